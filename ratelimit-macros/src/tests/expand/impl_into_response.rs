#[rate_limit(key = "id", capacity = 1, refill = 1)]
async fn show(Path(id): Path<u64>) -> impl IntoResponse {
    Json(load(id).await)
}
