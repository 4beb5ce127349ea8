;; A WASI program of small deeds: argv[1] says which, and the exit status is the first error number or 0.
;;
;; Memory: 0 argument pointers, 1024 argument data, 8192 scratch, 16384 a buffer of 64 KiB.
(module
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ_sizes_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_get" (func $environ_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $fd_close (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_filestat_set_size" (func $fd_filestat_set_size (param i32 i64) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_create_directory"
    (func $path_create_directory (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_unlink_file" (func $path_unlink_file (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_rename" (func $path_rename (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 2)

  (func $check (param $errno i32) (if (local.get $errno) (then (call $proc_exit (local.get $errno)))))

  (func $argument (param $index i32) (result i32)
    (i32.load (i32.mul (local.get $index) (i32.const 4))))

  (func $length (param $text i32) (result i32)
    (local $end i32)
    (local.set $end (local.get $text))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (i32.load8_u (local.get $end))))
        (local.set $end (i32.add (local.get $end) (i32.const 1)))
        (br $next)))
    (i32.sub (local.get $end) (local.get $text)))

  (func $number (param $text i32) (result i32)
    (local $value i32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (i32.load8_u (local.get $text))))
        (local.set $value
          (i32.add (i32.mul (local.get $value) (i32.const 10)) (i32.sub (i32.load8_u (local.get $text)) (i32.const 48))))
        (local.set $text (i32.add (local.get $text) (i32.const 1)))
        (br $next)))
    (local.get $value))

  ;; Writes all of it.
  (func $write (param $fd i32) (param $from i32) (param $count i32)
    (loop $more
      (if (local.get $count)
        (then
          (i32.store (i32.const 8192) (local.get $from))
          (i32.store (i32.const 8196) (local.get $count))
          (call $check (call $fd_write (local.get $fd) (i32.const 8192) (i32.const 1) (i32.const 8200)))
          (local.set $from (i32.add (local.get $from) (i32.load (i32.const 8200))))
          (local.set $count (i32.sub (local.get $count) (i32.load (i32.const 8200))))
          (br $more)))))

  (func $copy (param $from i32)
    (loop $more
      (i32.store (i32.const 8192) (i32.const 16384))
      (i32.store (i32.const 8196) (i32.const 65536))
      (call $check (call $fd_read (local.get $from) (i32.const 8192) (i32.const 1) (i32.const 8200)))
      (if (i32.load (i32.const 8200))
        (then
          (call $write (i32.const 1) (i32.const 16384) (i32.load (i32.const 8200)))
          (br $more)))))

  ;; Opens argv[2] below the first mount.
  (func $open (param $flags i32) (param $rights i64) (result i32)
    (call $check
      (call $path_open (i32.const 3) (i32.const 1) (call $argument (i32.const 2))
        (call $length (call $argument (i32.const 2))) (local.get $flags) (local.get $rights) (i64.const 0) (i32.const 0)
        (i32.const 8200)))
    (i32.load (i32.const 8200)))

  ;; CREAT and TRUNC; rights to write and to set the size.
  (func $create (result i32) (call $open (i32.const 9) (i64.const 0x400040)))

  (func (export "_start")
    (local $verb i32) (local $fd i32) (local $times i32)
    (call $check (call $args_sizes_get (i32.const 8192) (i32.const 8196)))
    (call $check (call $args_get (i32.const 0) (i32.const 1024)))
    (local.set $verb (i32.load8_u (call $argument (i32.const 1))))
    ;; echo: the arguments, each with a NUL
    (if (i32.eq (local.get $verb) (i32.const 0x65))
      (then (call $write (i32.const 1) (i32.const 1024) (i32.load (i32.const 8196)))))
    ;; variables
    (if (i32.eq (local.get $verb) (i32.const 0x76))
      (then
        (call $check (call $environ_sizes_get (i32.const 8192) (i32.const 8196)))
        (local.set $times (i32.load (i32.const 8196)))
        (call $check (call $environ_get (i32.const 0) (i32.const 1024)))
        (call $write (i32.const 1) (i32.const 1024) (local.get $times))))
    ;; xit NUMBER
    (if (i32.eq (local.get $verb) (i32.const 0x78))
      (then (call $proc_exit (call $number (call $argument (i32.const 2))))))
    ;; copy: standard input to output
    (if (i32.eq (local.get $verb) (i32.const 0x63)) (then (call $copy (i32.const 0))))
    ;; read PATH
    (if (i32.eq (local.get $verb) (i32.const 0x72)) (then (call $copy (call $open (i32.const 0) (i64.const 2)))))
    ;; write PATH: five bytes
    (if (i32.eq (local.get $verb) (i32.const 0x77))
      (then
        (local.set $fd (call $create))
        (i64.store (i32.const 16384) (i64.const 0x0a61746164))
        (call $write (local.get $fd) (i32.const 16384) (i32.const 5))
        (call $check (call $fd_close (local.get $fd)))))
    ;; add PATH NUMBER: so many times 64 KiB
    (if (i32.eq (local.get $verb) (i32.const 0x61))
      (then
        (local.set $fd (call $create))
        (local.set $times (call $number (call $argument (i32.const 3))))
        (loop $more
          (if (local.get $times)
            (then
              (call $write (local.get $fd) (i32.const 16384) (i32.const 65536))
              (local.set $times (i32.sub (local.get $times) (i32.const 1)))
              (br $more))))))
    ;; truncate PATH NUMBER
    (if (i32.eq (local.get $verb) (i32.const 0x74))
      (then
        (call $check
          (call $fd_filestat_set_size (call $create)
            (i64.extend_i32_u (call $number (call $argument (i32.const 3))))))))
    ;; keep PATH NUMBER: opens it so many times
    (if (i32.eq (local.get $verb) (i32.const 0x6b))
      (then
        (local.set $times (call $number (call $argument (i32.const 3))))
        (loop $more
          (if (local.get $times)
            (then
              (drop (call $open (i32.const 0) (i64.const 2)))
              (local.set $times (i32.sub (local.get $times) (i32.const 1)))
              (br $more))))))
    ;; directory PATH
    (if (i32.eq (local.get $verb) (i32.const 0x64))
      (then
        (call $check
          (call $path_create_directory (i32.const 3) (call $argument (i32.const 2))
            (call $length (call $argument (i32.const 2)))))))
    ;; unlink PATH
    (if (i32.eq (local.get $verb) (i32.const 0x75))
      (then
        (call $check
          (call $path_unlink_file (i32.const 3) (call $argument (i32.const 2))
            (call $length (call $argument (i32.const 2)))))))
    ;; full PATH NUMBER: again and again 64 KiB, made and unlinked
    (if (i32.eq (local.get $verb) (i32.const 0x66))
      (then
        (local.set $times (call $number (call $argument (i32.const 3))))
        (loop $more
          (if (local.get $times)
            (then
              (local.set $fd (call $create))
              (call $write (local.get $fd) (i32.const 16384) (i32.const 65536))
              (call $check (call $fd_close (local.get $fd)))
              (call $check
                (call $path_unlink_file (i32.const 3) (call $argument (i32.const 2))
                  (call $length (call $argument (i32.const 2)))))
              (local.set $times (i32.sub (local.get $times) (i32.const 1)))
              (br $more))))))
    ;; move PATH PATH
    (if (i32.eq (local.get $verb) (i32.const 0x6d))
      (then
        (call $check
          (call $path_rename (i32.const 3) (call $argument (i32.const 2)) (call $length (call $argument (i32.const 2)))
            (i32.const 3) (call $argument (i32.const 3)) (call $length (call $argument (i32.const 3)))))))
    ;; loop
    (if (i32.eq (local.get $verb) (i32.const 0x6c)) (then (loop $again (br $again))))
    ;; pause: a subscription to the clock, 1000 s from now
    (if (i32.eq (local.get $verb) (i32.const 0x70))
      (then
        (i32.store (i32.const 16400) (i32.const 1))
        (i64.store (i32.const 16408) (i64.const 1000000000000))
        (call $check (call $poll_oneoff (i32.const 16384) (i32.const 16500) (i32.const 1) (i32.const 8200)))))
    ;; grow until it is refused
    (if (i32.eq (local.get $verb) (i32.const 0x67))
      (then (loop $again (br_if $again (i32.ne (memory.grow (i32.const 256)) (i32.const -1))))))
    ;; yes: standard output for ever
    (if (i32.eq (local.get $verb) (i32.const 0x79))
      (then (loop $again (call $write (i32.const 1) (i32.const 16384) (i32.const 4096)) (br $again))))
    ;; break down
    (if (i32.eq (local.get $verb) (i32.const 0x62)) (then unreachable))))
