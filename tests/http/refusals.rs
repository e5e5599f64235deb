//! Rules of a whole route, and what is answered when a request is not admitted.

use std::time::Duration;

use ratelimit_kit::{
    Algorithm, ErrorBody, ErrorResponses, LimitKey, OnError, RateLimitError, RateLimitLayer,
    RequestContext, Rule,
};

use crate::contexts::layer;
use crate::support::client::get;
use crate::support::site::Site;
use crate::support::{limiter, without_a_store};

fn window(name: &'static str, limit: u64) -> Rule {
    Rule::new(name, Algorithm::FixedWindow { limit, window: Duration::from_mins(1) })
}

#[test]
fn a_layer_limits_a_whole_service() {
    let site = || {
        let rule = window("site", 3);
        Site::new(limiter(), layer().limiter(limiter()).limit(rule, RequestContext::ip_key))
    };
    Site::everywhere(site, |framework, address| {
        let from = |path: &str, ip: &str| get(path).header("x-forwarded-for", ip).to(address);
        // Alone, and together with the rule of a handler: the client hears of both.
        let alone = from("/free", "203.0.113.1");
        assert_eq!((alone.status, &*alone.body), (200, "free"), "{framework}");
        assert_eq!(alone.header("ratelimit"), r#""site";r=2;t=60"#, "{framework}");
        assert_eq!(alone.header("ratelimit-policy"), r#""site";q=3;w=60"#, "{framework}");
        let both = from("/ip", "203.0.113.1");
        assert_eq!(both.header("ratelimit"), r#""site";r=1;t=60, "ip";r=1;t=60"#, "{framework}");
        assert_eq!(from("/user", "203.0.113.1").status, 200, "{framework}");
        // Then the handler is not asked any more, and its rules say nothing.
        let refused = from("/ip", "203.0.113.1");
        refused.is_refusal();
        assert_eq!(refused.header("ratelimit"), r#""site";r=0;t=60"#, "{framework}");
        // Another client, and one with IPv6, who is one with all of a /64.
        assert_eq!(from("/free", "203.0.113.2").status, 200, "{framework}");
        let v6 = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4", "2001:db8:0:1::1"];
        let statuses = v6.map(|ip| from("/free", ip).status);
        assert_eq!(statuses, [200, 200, 200, 429, 200], "{framework}");
        // The handler refuses, and the layer's rule is described too.
        assert_eq!(["203.0.113.9"; 2].map(|ip| from("/ip", ip).status), [200, 200], "{framework}");
        let refused = from("/ip", "203.0.113.9");
        refused.is_refusal();
        assert_eq!(refused.header("ratelimit"), r#""site";r=0;t=60, "ip";r=0;t=60"#);
    });
}

#[test]
fn a_layer_around_one_route_knows_what_the_outer_one_knows() {
    let site = || {
        let key = |context: &RequestContext| {
            context.user().map_or_else(|| context.ip_key(), LimitKey::from)
        };
        Site {
            inner: RateLimitLayer::new().limiter(limiter()).limit(window("route", 3), key),
            ..Site::new(
                limiter(),
                layer().limiter(limiter()).limit(window("all", 9), RequestContext::ip_key),
            )
        }
    };
    Site::everywhere(site, |framework, address| {
        let as_user = |user| get("/inner").header("x-user-id", user).to(address);
        let first = as_user("ann");
        assert_eq!((first.status, &*first.body), (200, "ann"), "{framework}");
        assert_eq!(
            first.header("ratelimit"),
            r#""all";r=8;t=60, "route";r=2;t=60, "user";r=1;t=60"#,
            "{framework}"
        );
        let statuses = ["ann", "ann", "ann", "bob"].map(|user| as_user(user).status);
        assert_eq!(statuses, [200, 429, 429, 200], "{framework}");
        let anonymous = |ip| get("/inner").header("x-forwarded-for", ip).to(address);
        let answer = anonymous("203.0.113.1");
        assert_eq!(&*answer.body, "anonymous");
        assert!(answer.header("ratelimit").contains(r#""route";r=2"#), "{framework}: {answer:?}");
        // Other routes have nothing to do with it.
        assert_eq!(get("/free").to(address).header("ratelimit"), r#""all";r=3;t=60"#);
    });
}

#[test]
fn an_inner_layer_replaces_what_it_says_itself() {
    let site = || Site {
        inner: RateLimitLayer::new()
            .user(|of| of.header("x-token").map(str::to_owned))
            .error_responses(ErrorResponses::code_and_message()),
        ..Site::new(limiter(), layer())
    };
    Site::everywhere(site, |framework, address| {
        let ask = get("/inner").header("x-user-id", "ann").header("x-token", "eve");
        assert_eq!(ask.to(address).body, "eve", "{framework}");
        assert_eq!(ask.times(2, address), [200, 429], "{framework}");
        assert_eq!(ask.to(address).body, r#"{"code":429,"message":"too many requests"}"#);
        assert_eq!(get("/inner").header("x-user-id", "ann").to(address).body, "ann", "{framework}");
    });
}

#[test]
fn bodies_are_chosen_in_one_place() {
    let site = |answers: ErrorResponses| {
        let rule = window("site", 4);
        let layer = layer().error_responses(answers).limit(rule, |_| LimitKey::from("all"));
        move || Site::new(limiter(), layer.clone().limiter(limiter()))
    };
    Site::everywhere(site(ErrorResponses::code_and_message()), |framework, address| {
        // Twice that of the handler's rule, then that of the layer's.
        assert_eq!(get("/ip").times(2, address), [200, 200], "{framework}");
        for _ in 0..3 {
            let answer = get("/ip").to(address);
            assert_eq!(answer.status, 429, "{framework}");
            assert_eq!(answer.header("content-type"), "application/json", "{framework}");
            assert_eq!(answer.body, r#"{"code":429,"message":"too many requests"}"#, "{framework}");
            assert_eq!(answer.header("retry-after"), "60", "{framework}");
        }
    });
    let in_their_language = ErrorResponses::code_and_message_of(|error| {
        let context = RequestContext::current();
        let language = context.as_ref().and_then(|context| context.header("accept-language"));
        let chinese = language.is_some_and(|language| language.starts_with(b"zh"));
        match (error, chinese) {
            (RateLimitError::Limited(_), true) => "请求过于频繁，请稍后再试",
            (RateLimitError::Limited(_), false) => "zu \"viele\" Anfragen",
            _ => "?",
        }
    });
    Site::everywhere(site(in_their_language), |framework, address| {
        assert_eq!(get("/ip").times(2, address), [200, 200], "{framework}");
        for _ in 0..3 {
            let message = |ask: crate::support::client::Ask| -> String {
                let body: serde_json::Value = serde_json::from_str(&ask.to(address).body).unwrap();
                assert_eq!(body["code"], 429, "{framework}");
                body["message"].as_str().unwrap().to_owned()
            };
            assert_eq!(message(get("/ip")), "zu \"viele\" Anfragen", "{framework}");
            let chinese = message(get("/ip").header("accept-language", "zh-CN,zh;q=0.9"));
            assert_eq!(chinese, "请求过于频繁，请稍后再试", "{framework}");
        }
    });
    // A media type that is none must not take the answer away.
    let own = ErrorResponses::from_fn(|error| {
        ErrorBody::new("a\nb", format!("wait {:?}", error.retry_after()))
    });
    Site::everywhere(site(own), |framework, address| {
        assert_eq!(get("/ip").times(2, address), [200, 200], "{framework}");
        let answer = get("/ip").to(address);
        assert_eq!((answer.status, &*answer.body), (429, "wait Some(60s)"), "{framework}");
    });
}

/// Whoever is named like an address, and whoever has no name, is served as everybody is.
#[test]
fn two_rules_whose_keys_turn_out_equal_are_one() {
    let site = || {
        let user = |context: &RequestContext| {
            context.user().map_or_else(|| context.ip_key(), LimitKey::from)
        };
        let both = layer().limiter(limiter());
        let both = both
            .limit(window("equal-keys", 4), user)
            .limit(window("equal-keys", 4), RequestContext::ip_key);
        Site::new(limiter(), both)
    };
    Site::everywhere(site, |framework, address| {
        let of = |user: &str, ip: &str| {
            let ask = get("/free").header("x-forwarded-for", ip);
            if user.is_empty() { ask } else { ask.header("x-user-id", user) }.to(address).status
        };
        assert_eq!(of("bob", "203.0.113.1"), 200, "{framework}");
        // Both rules, each for a call of this address.
        assert_eq!(of("203.0.113.9", "203.0.113.9"), 200, "{framework}");
        assert_eq!(of("", "203.0.113.9"), 200, "{framework}");
        assert_eq!(of("", "203.0.113.9"), 429, "{framework}");
    });
}

#[test]
fn closed_is_unavailable_and_has_no_fields() {
    Site::everywhere(
        || Site::new(without_a_store(), layer()),
        |_, address| {
            get("/ip").to(address).is_unavailable();
            get("/year").to(address).is_unavailable();
        },
    );
    // Nor those of a rule of the layer that could be decided.
    let site = || {
        let layer = layer().limiter(limiter()).limit(window("site", 9), RequestContext::ip_key);
        Site::new(without_a_store(), layer)
    };
    Site::everywhere(site, |framework, address| {
        get("/ip").to(address).is_unavailable();
        assert_eq!(get("/free").to(address).fields().len(), 2, "{framework}");
    });
    let site = || {
        let rule = window("site", 9).with_on_error(OnError::Closed);
        Site::new(limiter(), layer().limiter(without_a_store()).limit(rule, RequestContext::ip_key))
    };
    Site::everywhere(site, |_, address| get("/free").to(address).is_unavailable());
}

#[test]
fn mistakes_are_the_callers_or_ours() {
    Site::everywhere(
        || Site::new(limiter(), layer()),
        |framework, address| {
            let answer = get("/costly").to(address);
            assert_eq!((answer.status, answer.fields()), (400, Vec::new()), "{framework}");
            assert!(!answer.body.contains("costly"), "{framework}: {answer:?}");
        },
    );
    let site = |key: fn(&RequestContext) -> LimitKey| {
        let layer = layer().peer(|_| None).limiter(limiter()).limit(window("site", 9), key);
        move || Site::new(limiter(), layer.clone())
    };
    Site::everywhere(site(|_| LimitKey::from("")), |framework, address| {
        assert_eq!(get("/free").times(3, address), [400, 400, 400], "{framework}");
    });
    Site::everywhere(site(RequestContext::ip_key), |_, address| {
        for _ in 0..10 {
            get("/free").to(address).is_our_mistake();
        }
    });
}
