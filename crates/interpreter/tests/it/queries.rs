//! Queries and changes over tables.

use crate::support::check;

const PEOPLE: &str = "
    SET NOCOUNT ON
    CREATE TABLE dept(id int PRIMARY KEY, name varchar(20))
    CREATE TABLE person(id int PRIMARY KEY, name varchar(20), dept int NULL, pay decimal(9, 2) NULL)
    INSERT dept VALUES (1, 'tools'), (2, 'paint'), (3, 'empty')
    INSERT person VALUES (1, 'Ann', 1, 10.50), (2, 'bob', 1, 20), (3, 'Cid', 2, 5), (4, 'dan', NULL, NULL)
    GO
";

#[track_caller]
fn people(script: &str, expected: &str) {
    check(&format!("{PEOPLE}{script}"), expected);
}

#[test]
fn joins() {
    people(
        "SELECT p.name, d.name FROM person p JOIN dept d ON d.id = p.dept ORDER BY p.name;
         SELECT p.name, d.name FROM person p LEFT JOIN dept d ON d.id = p.dept WHERE d.id IS NULL;
         SELECT p.name, d.name FROM person p FULL JOIN dept d ON d.id = p.dept WHERE p.id IS NULL OR d.id IS NULL ORDER BY d.name;
         SELECT COUNT(*) FROM person CROSS JOIN dept;
         SELECT name FROM dept d WHERE EXISTS (SELECT 1 FROM person WHERE dept = d.id) ORDER BY 1;
         SELECT name FROM dept WHERE id NOT IN (SELECT dept FROM person WHERE dept IS NOT NULL);
         SELECT d.name, x.top_pay FROM dept d CROSS APPLY (SELECT MAX(pay) AS top_pay FROM person WHERE dept = d.id) x ORDER BY d.id",
        "Ann | tools
         bob | tools
         Cid | paint
         dan | NULL
         dan | NULL
         NULL | empty
         12
         paint
         tools
         empty
         tools | 20.00
         paint | 5.00
         empty | NULL",
    );
}

#[test]
fn groups_orders_and_tops() {
    people(
        "SELECT dept, COUNT(*), SUM(pay), AVG(pay), MIN(name) FROM person GROUP BY dept HAVING COUNT(*) >= 1 ORDER BY dept;
         SELECT TOP 2 name FROM person ORDER BY name DESC;
         SELECT TOP (1) WITH TIES dept FROM person WHERE dept IS NOT NULL ORDER BY dept;
         SELECT DISTINCT dept FROM person ORDER BY dept;
         SELECT name FROM person ORDER BY id OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY;
         SELECT COUNT(*), SUM(pay) FROM person WHERE 1 = 0;
         SELECT COUNT(DISTINCT dept), COUNT(dept), COUNT(*) FROM person",
        "NULL | 1 | NULL | NULL | dan
         1 | 2 | 30.50 | 15.250000 | Ann
         2 | 1 | 5.00 | 5.000000 | Cid
         = Warning: Null value is eliminated by an aggregate or other SET operation.
         dan
         Cid
         1
         1
         NULL
         1
         2
         bob
         Cid
         0 | NULL
         2 | 3 | 4
         = Warning: Null value is eliminated by an aggregate or other SET operation.",
    );
}

#[test]
fn windows_and_numbers() {
    people(
        "SELECT name, ROW_NUMBER() OVER (PARTITION BY dept ORDER BY pay DESC) FROM person WHERE dept IS NOT NULL ORDER BY id;
         WITH n(x) AS (SELECT 1 FROM (VALUES(0),(0),(0),(0),(0),(0),(0),(0),(0),(0)) t(n)),
              big AS (SELECT ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS r FROM n a CROSS JOIN n b CROSS JOIN n c)
         SELECT COUNT(*), MIN(r), MAX(r), SUM(r) FROM big;
         SELECT name, RANK() OVER (ORDER BY dept), SUM(pay) OVER (ORDER BY id), LAG(name) OVER (ORDER BY id) FROM person ORDER BY id",
        "Ann | 2
         bob | 1
         Cid | 1
         1000 | 1 | 1000 | 500500
         Ann | 2 | 10.50 | NULL
         bob | 2 | 30.50 | Ann
         Cid | 4 | 35.50 | bob
         dan | 1 | 35.50 | Cid
         = Warning: Null value is eliminated by an aggregate or other SET operation.",
    );
}

#[test]
fn set_operations_and_subqueries() {
    people(
        "SELECT dept FROM person UNION SELECT id FROM dept ORDER BY 1;
         SELECT id FROM dept EXCEPT SELECT dept FROM person;
         SELECT id FROM dept INTERSECT SELECT dept FROM person ORDER BY id;
         SELECT name FROM person p WHERE pay > (SELECT AVG(pay) FROM person);
         SELECT (SELECT name FROM person);
         SELECT name, (SELECT COUNT(*) FROM person WHERE dept = d.id) FROM dept d ORDER BY id;
         SELECT name FROM person WHERE pay >= ALL (SELECT pay FROM person WHERE pay IS NOT NULL)",
        "NULL
         1
         2
         3
         3
         1
         2
         bob
         = Warning: Null value is eliminated by an aggregate or other SET operation.
         Msg 512, 5: Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, <= , >, >= or when the subquery is used as an expression.
         tools | 2
         paint | 1
         empty | 0
         bob",
    );
}

#[test]
fn changes() {
    people(
        "UPDATE person SET pay = pay * 2 WHERE dept = 1; PRINT @@ROWCOUNT;
         UPDATE p SET pay = 1, name = d.name FROM person p JOIN dept d ON d.id = p.dept WHERE d.name = 'paint';
         UPDATE person SET id = id + 1;
         DELETE FROM person WHERE id = 5; PRINT @@ROWCOUNT;
         DELETE d FROM dept d WHERE NOT EXISTS (SELECT 1 FROM person WHERE dept = d.id);
         SELECT * FROM person; SELECT id FROM dept;
         INSERT INTO person SELECT id + 10, name, dept, pay FROM person; PRINT @@ROWCOUNT;
         SELECT COUNT(*) FROM person;
         SELECT id, name INTO copy FROM person WHERE id > 10; PRINT @@ROWCOUNT;
         SELECT * FROM copy ORDER BY id;
         DELETE copy OUTPUT deleted.id WHERE id = 12;",
        "= 2
         = 1
         2 | Ann | 1 | 21.00
         3 | bob | 1 | 40.00
         4 | paint | 2 | 1.00
         1
         2
         = 3
         6
         = 3
         12 | Ann
         13 | bob
         14 | paint
         12",
    );
}

#[test]
fn conditions_and_case() {
    people(
        "SELECT name FROM person WHERE name LIKE 'b%' OR name IN ('ANN', 'x') ORDER BY id;
         SELECT CASE WHEN pay > 10 THEN 'high' WHEN pay IS NULL THEN 'none' ELSE 'low' END FROM person ORDER BY id;
         IF EXISTS (SELECT * FROM person WHERE id = 2) PRINT 'yes' ELSE PRINT 'no';
         DECLARE @n int; SELECT @n = COUNT(*) FROM person; PRINT @n;
         SELECT @n = id FROM person WHERE id BETWEEN 2 AND 3; PRINT @n;
         SET @n = (SELECT MAX(id) FROM person); PRINT @n",
        "Ann
         bob
         high
         high
         low
         none
         = yes
         = 4
         = 3
         = 4",
    );
}

#[test]
fn many_rows() {
    check(
        "SET NOCOUNT ON
         CREATE TABLE t(k bigint PRIMARY KEY, v int NOT NULL, f char(50) DEFAULT 'x')
         ;WITH n(x) AS (SELECT 1 FROM (VALUES(0),(0),(0),(0),(0),(0),(0),(0),(0),(0)) t(n)),
              big AS (SELECT ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS r FROM n a CROSS JOIN n b CROSS JOIN n c CROSS JOIN n d)
         INSERT INTO t WITH (TABLOCKX) (k, v) SELECT r, r % 7 FROM big
         PRINT @@ROWCOUNT
         SELECT COUNT(*), SUM(v) FROM t
         SELECT v, COUNT(*) FROM t WHERE k > 9000 GROUP BY v ORDER BY v
         UPDATE t SET v = v + 1 WHERE k <= 100; PRINT @@ROWCOUNT
         DELETE t WHERE v = 3; PRINT @@ROWCOUNT
         SELECT COUNT(*) FROM t a JOIN t b ON a.k = b.k
         SELECT TOP 3 k FROM t ORDER BY k DESC",
        "= 10000
         10000 | 29998
         0 | 143
         1 | 143
         2 | 143
         3 | 143
         4 | 143
         5 | 142
         6 | 143
         = 100
         = 1430
         8570
         10000
         9998
         9997",
    );
}
