MERGE INTO coupon (name, remaining) KEY (name) VALUES ('spring', 100);
