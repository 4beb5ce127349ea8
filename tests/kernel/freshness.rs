//! An instance never finds anything of one before it.

use std::sync::Arc;

use wskill::{Runtime, Sandbox};

use super::support::{POOLED, RUNTIME, guest, limits};

/// Stains and looks, at the same time and one after the other, in sandboxes of their own.
fn look(runtime: &Arc<Runtime>) {
    let (stain, fresh) = (guest("stain.wat"), guest("fresh.wat"));
    super::support::block_on(async {
        for _ in 0..30 {
            let build = || Sandbox::builder().runtime(Arc::clone(runtime)).limits(limits()).build().unwrap();
            let (one, other) = (build(), build());
            let stained = one.command(["stain"]).module(stain.clone()).run();
            let looked = other.command(["fresh"]).module(fresh.clone()).run();
            let (stained, looked) = tokio::join!(stained, looked);
            assert_eq!((stained.unwrap().exit_code, looked.unwrap().exit_code), (0, 0));
            one.close().await;
            other.close().await;
        }
    });
}

#[test]
fn memory_and_tables_are_fresh() {
    look(&RUNTIME);
}

#[test]
fn memory_and_tables_of_a_pool_are_fresh() {
    look(&POOLED);
}
