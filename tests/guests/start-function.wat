;; Writes from its start function, when the host does not know the instance yet, and again from `_start`.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\03\00\00\00")
  (data (i32.const 16) "hi\n")
  (func $say (if (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)) (then (call $exit (i32.const 1)))))
  (start $say)
  (func (export "_start") (call $say)))
