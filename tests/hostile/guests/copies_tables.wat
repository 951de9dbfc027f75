;; Long instructions: copies a table within itself.
(table $wide 10000 funcref)
(func $hostile (param $n i32) (result i32)
  (loop $again
    (table.copy $wide $wide (i32.const 0) (i32.const 5000) (i32.const 5000))
    (br $again))
  (unreachable))
