;; Fills its memory, grown to 64 pages, and its table, so that the next instance in its place would find something.
(module
  (memory (export "memory") 16 64)
  (table (export "table") 1000 funcref)
  (elem declare func $stain)
  (func $stain)
  (func (export "_start")
    (drop (memory.grow (i32.const 48)))
    (memory.fill (i32.const 0) (i32.const 0xa5) (i32.mul (memory.size) (i32.const 65536)))
    (table.fill (i32.const 0) (ref.func $stain) (i32.const 1000))))
