;; Grows a table to two hundred million elements.
(table $wide 1 funcref)
(func $hostile (param $n i32) (result i32)
  (call $ok_number (table.grow $wide (ref.null func) (i32.const 200000000))))
