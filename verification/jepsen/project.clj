(defproject redlock-jepsen "0.1.0-SNAPSHOT"
  :description "A Jepsen test of Redlock. Was not run where the library is built: it needs five machines."
  :dependencies [[org.clojure/clojure "1.12.5"]
                 [jepsen "0.3.13"]
                 [dev.redlock/redlock-lettuce "0.1.0-SNAPSHOT"]] ; mvn install -DskipTests
  :main redlock.jepsen)
