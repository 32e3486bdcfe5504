#!/usr/bin/env bash
# Planted bugs that no seed of the simulator is known to show: the unit test of the rule passes without the bug and fails with it.
# The last line counts them; exit code 1 if a test passes with its bug, or fails without.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

# Each: the bug, the test project, its test class.
bugs='
joins-a-running-round      stores/Craq.Tests               Craq.Tests.Chains.RoundTests
serves-by-a-new-lease      stores/Craq.Tests               Craq.Tests.Coordination.CraqDirectoryTests
sealed-store-takes-records stores/Salus.Store.Tests        Salus.Store.Tests.StoreHandlerTests
replaced-without-waiting   stores/Salus.Region.Tests       Salus.Region.Tests.Recovery.RegionRecoveryTests
older-generation-counts    stores/Salus.Region.Tests       Salus.Region.Tests.Recovery.LogMergeTests
report-before-fence        stores/Salus.Region.Tests       Salus.Region.Tests.RunTests
unadmitted-anchors         stores/Salus.Region.Tests       Salus.Region.Tests.Recovery.LogMergeTests
first-log-wins             stores/Salus.Region.Tests       Salus.Region.Tests.Recovery.LogMergeTests
any-checkpoint-counts      stores/Salus.Region.Tests       Salus.Region.Tests.Recovery.CheckpointRecoveryTests
resume-trusts-the-region   stores/Salus.Client.Tests       Salus.Client.Tests.ResumeTests
run-not-checked            stores/Salus.Region.Tests       Salus.Region.Tests.RunTests
reads-outlive-the-lease    stores/Salus.Client.Tests       Salus.Client.Tests.ReadTests
batches-by-number          stores/Salus.Coordination.Tests Salus.Coordination.Tests.CommittablePrefixTests
any-participant-counts     stores/Salus.Coordination.Tests Salus.Coordination.Tests.CommittablePrefixTests
void-only-the-refused      stores/Salus.Client.Tests       Salus.Client.Tests.WriteTests
cut-overtakes-compaction   stores/Salus.Region.Tests       Salus.Region.Tests.Body.BodyDamageTests
freed-at-own-floor         stores/Salus.Coordination.Tests Salus.Coordination.Tests.RegionRulesTests
forgets-a-copy-in-need     stores/Salus.Coordination.Tests Salus.Coordination.Tests.Agent.AgentCoreTests
lost-store-answers-empty   stores/Salus.Store.Tests        Salus.Store.Tests.StoreFolderTests
doubt-goes-on              hosts/Corfu.ZooKeeper.Tests     Corfu.ZooKeeper.Tests.Serving.RuleTests
doubt-is-failure           hosts/Corfu.ZooKeeper.Tests     Corfu.ZooKeeper.Tests.Serving.RuleTests
silence-without-a-check    hosts/Corfu.ZooKeeper.Tests     Corfu.ZooKeeper.Tests.Serving.RuleTests
pause-is-silence           hosts/Corfu.ZooKeeper.Tests     Corfu.ZooKeeper.Tests.Serving.RuleTests
client-ahead-is-served     hosts/Corfu.ZooKeeper.Tests     Corfu.ZooKeeper.Tests.Serving.RuleTests
event-without-read         hosts/Corfu.ZooKeeper.Tests     Corfu.ZooKeeper.Tests.Serving.RuleTests
ttl-by-option              services/Tango.ZooKeeper.Tests  Tango.ZooKeeper.Tests.ConfigureTests
root-in-place              services/Tango.ZooKeeper.Tests  Tango.ZooKeeper.Tests.ModelTests
undeclared-is-unwritten    log/Corfu.Sequencer.Tests       Corfu.Sequencer.Tests.DecisionTests
records-see-the-same-tables log/Corfu.Sequencer.Tests      Corfu.Sequencer.Tests.DecisionTests
evicts-the-older-version   log/Corfu.Sequencer.Tests       Corfu.Sequencer.Tests.DecisionTests
mark-stays-at-eviction     log/Corfu.Sequencer.Tests       Corfu.Sequencer.Tests.DecisionTests
mark-not-raised            log/Corfu.Sequencer.Tests       Corfu.Sequencer.Tests.DecisionTests
tail-of-another-epoch      log/Corfu.Sequencer.Tests       Corfu.Sequencer.Tests.DecisionTests
collision-hides-the-older-key log/Corfu.Sequencer.Tests    Corfu.Sequencer.Tests.DecisionTests
retry-keeps-its-ruling     log/Corfu.Client.Tests          Corfu.Client.Tests.DecidedAppendTests
silence-is-a-ruling        log/Corfu.Client.Tests          Corfu.Client.Tests.DecidedAppendTests
position-passed-on         log/Corfu.Client.Tests          Corfu.Client.Tests.DecidedAppendTests
deletion-tells-its-streams tango/Tango.Tests               Tango.Tests.Decisions.SequencerDecisionTests
fence-not-looked-for       services/Tango.Ledgers.Tests    Tango.Ledgers.Tests.LedgerRuleTests
foreign-grant-ignored      services/Tango.Ledgers.Tests    Tango.Ledgers.Tests.LedgerRuleTests
acknowledged-out-of-order  services/Tango.Ledgers.Tests    Tango.Ledgers.Tests.LedgerRuleTests
unknown-sent-again         services/Tango.Ledgers.Tests    Tango.Ledgers.Tests.LedgerRuleTests
ledger-by-slot             services/Tango.Ledgers.Tests    Tango.Ledgers.Tests.LedgerRuleTests
trimmed-is-no-fence        services/Tango.Ledgers.Tests    Tango.Ledgers.Tests.LedgerRuleTests
ledgers-claim-nothing      services/Tango.Ledgers.Tests    Tango.Ledgers.Tests.LedgerTrimTests
older-spine-followed       services/Tango.Ledgers.Tests    Tango.Ledgers.Tests.LedgerSpineTests
reap-by-path               services/Tango.ZooKeeper.Tests  Tango.ZooKeeper.Tests.ReapTests
duplicate-runs             services/Corfu.StateMachines.Tests Corfu.StateMachines.Tests.Rules.SessionRuleTests
gone-session-is-new        services/Corfu.StateMachines.Tests Corfu.StateMachines.Tests.Rules.SessionRuleTests
sessions-not-saved         services/Corfu.StateMachines.Tests Corfu.StateMachines.Tests.Rules.SessionRuleTests
one-snapshot-is-enough     services/Corfu.StateMachines.Tests Corfu.StateMachines.Tests.Rules.SnapshotRuleTests
skipped-is-applied         services/Corfu.StateMachines.Tests Corfu.StateMachines.Tests.Rules.SnapshotRuleTests
digest-ignored             services/Corfu.StateMachines.Tests Corfu.StateMachines.Tests.Rules.ReplicaRuleTests
unchecked-query            services/Corfu.StateMachines.Tests Corfu.StateMachines.Tests.Rules.ReplicaRuleTests
value-after-its-record     services/Corfu.Store.Tests    Corfu.Store.Tests.Rules.WriteRuleTests
any-age-of-values          services/Corfu.Store.Tests    Corfu.Store.Tests.Rules.WriteRuleTests
mixed-views                services/Corfu.Store.Tests    Corfu.Store.Tests.Rules.ReadRuleTests
cache-by-item              services/Corfu.Store.Tests    Corfu.Store.Tests.Rules.ReadRuleTests
reads-from-a-later-view    services/Corfu.Store.Tests    Corfu.Store.Tests.Rules.WriteRuleTests
guards-not-checked         services/Corfu.Store.Tests    Corfu.Store.Tests.Rules.WriteRuleTests
refusals-count             services/Corfu.Store.Tests    Corfu.Store.Tests.Rules.WriteRuleTests
watch-starts-at-the-view   services/Corfu.Store.Tests    Corfu.Store.Tests.Rules.WatchRuleTests
prune-outside-the-state    services/Corfu.Store.Tests    Corfu.Store.Tests.Rules.ReadRuleTests
move-unchecked             services/Corfu.Store.Tests    Corfu.Store.Tests.Rules.ReadRuleTests
doubt-sent-again           services/Corfu.Store.Tests    Corfu.Store.Tests.Rules.WriteRuleTests
any-version-ends           services/Corfu.Store.Tests    Corfu.Store.Tests.Rules.LeaseRuleTests
store-claims-nothing       services/Corfu.Store.Tests    Corfu.Store.Tests.Rules.ReadRuleTests
'

run() { # BUG PROJECT CLASS; an empty bug: the product as it is. The output has the runner's summary.
    CORFU_PLANTED=$1 dotnet "artifacts/planted/bin/${2##*/}/Release/net10.0/${2##*/}.dll" -class "$3" -noLogo -noColor
}

while read -r project; do
    dotnet build -c Release -p:Planted=true -v quiet "tests/$project" || exit 1
done < <(awk 'NF { print $2 }' <<<"$bugs" | sort -u)

planted=0 found=0
while read -r bug project class; do
    [ -n "$bug" ] || continue
    planted=$((planted + 1))
    if ! output=$(run '' "$project" "$class"); then
        printf '%s: %s fails without the bug\n%s\n' "$bug" "$class" "$output"
    elif output=$(run "$bug" "$project" "$class") || ! test=$(grep -m 1 -o '[^ ]* \[FAIL\]' <<<"$output"); then
        printf '%s: NOT found by %s\n%s\n' "$bug" "$class" "$output"
    else
        printf '%s: found by %s\n' "$bug" "${test% \[FAIL\]}"
        found=$((found + 1))
    fi
done <<<"$bugs"
printf 'planted %d found %d\n' "$planted" "$found"
[ "$planted" -eq "$found" ]
