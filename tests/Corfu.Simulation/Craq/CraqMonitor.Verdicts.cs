using Craq;
using Craq.Protocol;

namespace Corfu.Simulation.Craq;

internal sealed partial class CraqMonitor
{
    /// <summary>When each version of each object was committed.</summary>
    public IReadOnlyList<VersionFact> Facts()
    {
        List<VersionFact> facts = [];
        foreach (var chain in _chains.Values)
        {
            var name = chain.Newest?.Name ?? $"{chain.Id}";
            foreach (var (version, at) in chain.Commits)
            {
                // A Lock's writes are a promise.
                var content = chain.Find(version)!.Content;
                if (content.Kind != ChainRecordKind.Write) continue;
                foreach (var write in content.Writes)
                    facts.Add(new VersionFact(name, $"{write.Key}", version.Value, at, at));
            }
        }

        return facts;
    }

    /// <summary>The writes that the chains hold, committed.</summary>
    public IReadOnlyCollection<AppliedWrite> Applied()
    {
        List<AppliedWrite> applied = [];
        foreach (var chain in _chains.Values)
        {
            foreach (var version in chain.Path(chain.Committed))
            {
                var content = chain.Find(version)!.Content;
                var name = chain.Newest!.Name;
                if (content.Transaction != Guid.Empty)
                {
                    if (content.Kind == ChainRecordKind.Write)
                        applied.Add(new AppliedWrite(CraqText.PartOf(content.Transaction, name), name, version.Value));
                    continue;
                }

                foreach (var origin in content.Origins)
                    applied.Add(new AppliedWrite($"{origin.Id}", name, version.Value));
            }
        }

        return applied;
    }

    /// <summary>Whether a chain holds keys for a transaction that has not ended there.</summary>
    public bool HoldsLocks => _chains.Values.Any(chain => Parts(chain).Any(part => part.Value == PartState.Prepared));

    /// <summary>C15: a transaction ends alike in all its chains.</summary>
    public void JudgeTransactions()
    {
        var parts = _chains.Values.ToDictionary(chain => chain.Id, Parts);
        foreach (var (id, chain) in _chains)
        {
            foreach (var (transaction, state) in parts[id])
            {
                if (state != PartState.Committed) continue;
                Mark("transaction committed");
                foreach (var other in chain.PartsOf(transaction))
                {
                    var there = parts[other].GetValueOrDefault(transaction);
                    if (there == PartState.Committed) continue;
                    Found(CheckerNames.Transact,
                        $"{transaction} is committed in {chain.Newest!.Name}, and {there} in "
                        + $"{Truth(other).Newest!.Name}");
                }
            }
        }
    }

    private static SortedDictionary<Guid, PartState> Parts(ChainTruth chain)
    {
        SortedDictionary<Guid, PartState> parts = [];
        foreach (var version in chain.Path(chain.Committed))
        {
            var record = chain.Find(version)!.Content;
            if (record.Transaction == Guid.Empty) continue;
            parts[record.Transaction] = record.Kind switch
            {
                ChainRecordKind.Lock => PartState.Prepared,
                ChainRecordKind.Write => PartState.Committed,
                _ => PartState.Aborted,
            };
        }

        return parts;
    }
}
