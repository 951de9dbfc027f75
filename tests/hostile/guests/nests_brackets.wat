;; Returns this many opening brackets, and as many closing ones.
(func $hostile (param $n i32) (result i32)
  (drop (memory.grow (i32.const 200)))
  (memory.fill (i32.const 65536) (i32.const 91) (local.get $n))
  (memory.fill (i32.add (i32.const 65536) (local.get $n)) (i32.const 93) (local.get $n))
  (call $ok (i32.const 65536) (i32.mul (local.get $n) (i32.const 2))))
