(module
  (import "env" "does_not_exist" (func $missing))
  (memory (export "memory") 1)
  (func (export "_start") (call $missing)))
