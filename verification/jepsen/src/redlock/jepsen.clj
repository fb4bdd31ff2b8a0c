(ns redlock.jepsen
  "A workload for Jepsen. It was never run by Jepsen: that needs machines that it may partition.
  Only the client and the checker ran, against local masters.

    mvn install -DskipTests             in the root of the project
    lein run test --nodes-file nodes --time-limit 300
    lein run test ... --no-fence        a control: added elements must be lost
    lein run test ... --no-guard --faults kill   a control: all masters forget; grants must overlap

  Each node is an independent Redis master. All clients run in Jepsen's own process, and so does
  what the lock protects: a list that is read and written in two steps. A client sometimes sleeps
  between them for longer than its lease. The list refuses a token below one that it has seen.

  Checked are: each acknowledged element is in the last read; a grant that is asked for after
  another one was given has a higher token; no two grants overlap in the time in which each claims
  to be valid."
  (:require [clojure.string :as str]
            [jepsen.checker :as checker]
            [jepsen.cli :as cli]
            [jepsen.client :as client]
            [jepsen.control :as c]
            [jepsen.control.util :as cu]
            [jepsen.db :as db]
            [jepsen.generator :as gen]
            [jepsen.history :as h]
            [jepsen.nemesis.combined :as nc]
            [jepsen.os.debian :as debian]
            [jepsen.tests :as tests])
  (:import (dev.redlock DistributedLock Lease LockOptions Redlock RedlockException)
           (dev.redlock.spi RestartGuard)
           (java.time Duration)
           (java.util Optional))
  (:gen-class))

(def lease-millis 2000)

;; The masters.

(def pidfile "/run/redlock-redis.pid")
(def logfile "/var/log/redlock-redis.log")

(defn start-redis! []
  (cu/start-daemon! {:logfile logfile :pidfile pidfile :chdir "/tmp"}
                    "/usr/bin/redis-server"
                    :--port "6379" :--bind "0.0.0.0" :--protected-mode "no"
                    :--save "" :--appendonly "no")) ; A killed master forgets.

(defrecord Masters []
  db/DB
  (setup! [_ _ _]
    (debian/install [:redis-server])
    (c/su
      (c/exec :systemctl :disable :--now :redis-server)
      (start-redis!)))
  (teardown! [_ _ _]
    (c/su (cu/stop-daemon! "redis-server" pidfile)))
  db/Kill
  (start! [_ _ _] (c/su (start-redis!)))
  (kill! [_ _ _] (c/su (cu/grepkill! :kill "redis-server")))
  db/Pause
  (pause! [_ _ _] (c/su (cu/grepkill! :stop "redis-server")))
  (resume! [_ _ _] (c/su (cu/grepkill! :cont "redis-server")))
  db/LogFiles
  (log-files [_ _ _] [logfile]))

;; What the lock protects.

(defn new-list [] (atom {:token 0 :elements []}))

(defn replace-elements
  "Stores the elements, unless the list has seen a higher token; returns whether it has stored them."
  [list fenced token elements]
  (let [accepts #(or (not fenced) (<= (:token %) token))
        [before _] (swap-vals! list #(if (accepts %)
                                       {:token (max (:token %) token) :elements elements}
                                       %))]
    (accepts before)))

;; The clients.

(defn connect [nodes guard]
  (let [uris (into-array String (map #(str "redis://" %) nodes))
        options (-> (LockOptions/builder)
                    (.leaseTime (Duration/ofMillis lease-millis))
                    (.autoExtend false) ; A client that sleeps loses its lease, as a stopped process.
                    (.build))]
    (-> (Redlock/builder)
        (.nodes ^"[Ljava.lang.String;" uris)
        (.defaults options)
        (.restartGuard (if guard RestartGuard/UPTIME RestartGuard/OFF))
        (.build))))

(defn grant
  "What is known of a lease when it is granted: its token, and until when it is certainly valid."
  [^Lease lease asked]
  (let [now (System/nanoTime)]
    {:token (.value (.fencingToken lease))
     :asked asked
     :from now
     :until (+ now (.toNanos (.remainingValidity lease)))}))

(defn add-element
  "Adds the element under the lock; returns what is known of the operation."
  [^Redlock redlock list fenced element]
  (let [asked (System/nanoTime)
        ^Optional found (.tryAcquire ^DistributedLock (.lock redlock "jepsen") (Duration/ofSeconds 2))]
    (if (.isEmpty found)
      {:type :fail :error :held}
      (with-open [^Lease lease (.get found)]
        (let [given (grant lease asked)
              elements (:elements @list)]
          (Thread/sleep (long (if (zero? (rand-int 20)) (* 3/2 lease-millis) (rand-int 20))))
          (let [stored (replace-elements list fenced (:token given) (conj elements element))
                given (update given :until min (System/nanoTime))]
            {:type (if stored :ok :fail) :grant given}))))))

(defrecord Locker [list redlock]
  client/Client
  (open! [this test _]
    (assoc this :redlock (connect (:nodes test) (:guard test))))
  (setup! [_ _])
  (invoke! [_ test op]
    (case (:f op)
      :add (try
             (merge op (add-element redlock list (:fence test) (:value op)))
             ; Nothing is written without a lease.
             (catch RedlockException e
               (assoc op :type :fail :error (.getMessage e))))
      :read (assoc op :type :ok :value (set (:elements @list)))))
  (teardown! [_ _])
  (close! [_ _]
    (.close ^Redlock redlock)))

;; The checkers.

(defn token-errors
  "Pairs of grants, of which the later was asked for after the earlier was given, and has no higher
  token."
  [grants]
  (loop [asked (sort-by :asked grants), given (sort-by :from grants), highest nil, errors []]
    (let [[now & later] asked, [earlier & others] given]
      (cond
        (nil? now) errors
        (and earlier (< (:from earlier) (:asked now)))
        (recur asked others (if (> (:token earlier) (:token highest 0)) earlier highest) errors)
        :else
        (recur later given highest
               (cond-> errors
                 (<= (:token now) (:token highest 0)) (conj [highest now])))))))

(defn overlaps
  "Pairs of grants that claim to be valid at one time."
  [grants]
  (->> (sort-by :from grants)
       (reduce (fn [[found last] now]
                 [(cond-> found
                    (and last (< (:from now) (:until last))) (conj [last now]))
                  (if (and last (> (:until last) (:until now))) last now)])
               [[] nil])
       first))

(defn grants-checker []
  (reify checker/Checker
    (check [_ _ history _]
      (let [grants (->> history (h/filter #(not= :invoke (:type %))) (keep :grant) vec)
            errors (token-errors grants)
            double (overlaps grants)]
        {:valid? (if (empty? grants) :unknown (and (empty? errors) (empty? double)))
         :grants (count grants)
         :token-errors (take 10 errors)
         :overlaps (take 10 double)}))))

;; The test.

(defn redlock-test [opts]
  (let [masters (->Masters)
        nemesis (nc/nemesis-package {:db masters
                                     :faults (:faults opts)
                                     :interval (if (:guard opts) 10 1)
                                     :partition {:targets [:one :minority-third :majority]}
                                     :kill {:targets (if (:guard opts) [:one] [:all])}
                                     :pause {:targets [:one :minority]}})]
    (merge tests/noop-test
           opts
           {:name "redlock"
            :os debian/os
            :db masters
            :client (->Locker (new-list) nil)
            :nemesis (:nemesis nemesis)
            :checker (checker/compose {:elements (checker/set)
                                       :grants (grants-checker)
                                       :perf (checker/perf {:nemeses (:perf nemesis)})})
            :generator (gen/phases
                         (->> (range)
                              (map (fn [i] {:f :add :value i}))
                              (gen/stagger 1/10)
                              (gen/nemesis (:generator nemesis))
                              (gen/time-limit (:time-limit opts)))
                         (gen/nemesis (:final-generator nemesis))
                         (gen/clients (gen/once {:f :read})))})))

(def options
  [[nil "--faults LIST" "Of partition, kill, pause, clock; clock is outside of the assumptions."
    :default #{:partition :kill :pause}
    :parse-fn #(set (map keyword (str/split % #",")))]
   [nil "--[no-]fence" "Whether the list compares tokens." :default true]
   [nil "--[no-]guard" "Whether a master that may have forgotten waits." :default true]])

(defn -main [& args]
  (cli/run! (merge (cli/single-test-cmd {:test-fn redlock-test :opt-spec options})
                   (cli/serve-cmd))
            args))
