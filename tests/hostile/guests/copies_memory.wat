;; Long instructions: copies half of the memory to the other half.
(func $hostile (param $n i32) (result i32)
  (drop (memory.grow (i32.const 1990)))
  (loop $again
    (memory.copy (i32.const 65536) (i32.const 65000000) (i32.const 64000000))
    (br $again))
  (unreachable))
