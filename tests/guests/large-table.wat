;; Tables cost memory too.
(module
  (memory (export "memory") 1)
  (table (export "table") 10000000 funcref)
  (func (export "_start")))
