using System.Collections.Immutable;
using Tango;

namespace JobScheduler.Objects;

/// <summary>
/// Usage per user. Charging is a blind addition: it reads nothing, so that jobs of one user can finish side by side
/// without a conflict, which reading and writing back a dictionary's value could not.
/// </summary>
[TangoObject("job-scheduler/usage")]
public sealed partial class UsageLedger : TangoObject
{
    private ImmutableSortedDictionary<int, UserUsage> _users = ImmutableSortedDictionary<int, UserUsage>.Empty;

    [Mutator(1)]
    public partial ValueTask ChargeAsync([VersionKey] int user, long nodeSeconds,
        CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<ImmutableSortedDictionary<int, UserUsage>> SnapshotAsync(
        CancellationToken cancellationToken = default);

    private void ApplyCharge(int user, long nodeSeconds)
    {
        UserUsage old = _users.GetValueOrDefault(user);
        _users = _users.SetItem(user, new UserUsage(old.Jobs + 1, old.NodeSeconds + nodeSeconds));
    }

    private ImmutableSortedDictionary<int, UserUsage> ReadSnapshot() => _users;
}
