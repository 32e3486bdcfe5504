namespace Corfu.Checkers;

/// <summary>A write id is applied once, and what clients were told of their writes fits what the chains hold in the
/// end.</summary>
public static class OnceCheck
{
    /// <param name="applied">The writes of the committed records: id, chain and version.</param>
    /// <param name="complete">Versions of a chain up to which <paramref name="applied"/> has all; beyond, and below the
    /// first one of a chain, records may be gone.</param>
    public static List<Violation> Check(ObjectHistory history, IReadOnlyCollection<AppliedWrite> applied,
        Func<string, (long From, long Until)> complete)
    {
        List<Violation> found = [];
        Dictionary<string, AppliedWrite> byId = [];
        foreach (var write in applied)
        {
            if (!byId.TryAdd(write.Id, write) && byId[write.Id] != write)
                found.Add(new(CheckerNames.Once,
                    $"write {write.Id} was applied twice: as {ObjectVersions.Show(byId[write.Id].Version)} and as "
                    + $"{ObjectVersions.Show(write.Version)} in {write.Chain}"));
        }

        foreach (var call in history.Calls.Where(call => call.Mode == ObjectMode.Mutate && call.Writes))
        {
            var held = byId.GetValueOrDefault(call.Id);
            switch (call.Fate)
            {
                case ObjectFate.Done when held is not null && held.Version != call.Version:
                    found.Add(new(CheckerNames.Once,
                        $"{call}: the chain has it as {ObjectVersions.Show(held.Version)}"));
                    break;
                case ObjectFate.Done when held is null:
                    var (from, until) = complete(call.Chain);
                    if (call.Version >= from && call.Version <= until)
                        found.Add(new(CheckerNames.Once, $"{call}: the chain does not have it"));
                    break;
                case ObjectFate.Mismatch or ObjectFate.Refused when held is not null:
                    found.Add(new(CheckerNames.Once,
                        $"{call}: the chain has it all the same, as {ObjectVersions.Show(held.Version)}"));
                    break;
            }
        }

        return found;
    }
}

/// <param name="Id">As in <see cref="ObjectCall.Id"/>.</param>
public sealed record AppliedWrite(string Id, string Chain, long Version);
