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
                foreach (var write in chain.Find(version)!.Content.Writes)
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
                foreach (var origin in chain.Find(version)!.Content.Origins)
                    applied.Add(new AppliedWrite($"{origin.Id}", chain.Newest!.Name, version.Value));
            }
        }

        return applied;
    }
}
