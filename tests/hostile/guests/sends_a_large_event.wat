;; Sends an event of ten megabytes.
(func $hostile (param $n i32) (result i32)
  (drop (memory.grow (i32.const 200)))
  (memory.fill (i32.const 65536) (i32.const 120) (i32.const 10000000))
  (call $send (i32.const 65536) (i32.const 10000000) (i32.const 32))
  (call $ok (i32.const 64) (i32.const 4)))
