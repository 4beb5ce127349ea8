;; Exits with 1 when a byte of its memory, before or after growing, is not zero, and with 2 when its table is not empty.
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 16 64)
  (table (export "table") 1000 funcref)
  (func $scan (local $at i32) (local $end i32)
    (local.set $end (i32.mul (memory.size) (i32.const 65536)))
    (loop $next
      (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then (call $exit (i32.const 1))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $end)))))
  (func (export "_start") (local $index i32)
    (call $scan)
    (drop (memory.grow (i32.const 48)))
    (call $scan)
    (loop $next
      (if (i32.eqz (ref.is_null (table.get (local.get $index)))) (then (call $exit (i32.const 2))))
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $index) (i32.const 1000))))))
