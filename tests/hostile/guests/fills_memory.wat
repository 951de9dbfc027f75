;; Long instructions, which no epoch interrupts: fills almost all possible memory repeatedly.
(func $hostile (param $n i32) (result i32)
  (drop (memory.grow (i32.const 1990)))
  (loop $again
    (memory.fill (i32.const 65536) (i32.const 1) (i32.const 130000000))
    (br $again))
  (unreachable))
