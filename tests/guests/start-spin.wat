;; Never comes out of its start function.
(module
  (memory (export "memory") 1)
  (func $start (loop $again (br $again)))
  (start $start)
  (func (export "_start")))
