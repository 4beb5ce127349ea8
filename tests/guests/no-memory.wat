;; Has no memory that a call could use: whatever needs one is a fault (21), whatever does not works.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (func (export "_start")
    (if (i32.ne (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 0)) (i32.const 21))
      (then (call $exit (i32.const 1))))
    (if (i32.ne (call $random (i32.const 0) (i32.const 0)) (i32.const 21)) (then (call $exit (i32.const 2))))
    (if (call $yield) (then (call $exit (i32.const 3))))
    (call $exit (i32.const 7))))
