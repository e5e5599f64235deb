//! What generated code may call. Any release may break it.
