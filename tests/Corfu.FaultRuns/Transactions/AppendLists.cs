using System.Collections.Immutable;
using Tango;

namespace Corfu.FaultRuns.Transactions;

/// <summary>Lists by name that only grow: what stands in one tells the order of its writers.</summary>
[TangoObject("fault-runs.append-lists")]
public sealed partial class AppendLists : TangoObject
{
    private ImmutableDictionary<string, ImmutableList<long>> _lists =
        ImmutableDictionary<string, ImmutableList<long>>.Empty;

    [Mutator(1)]
    public partial ValueTask AppendAsync([VersionKey] string list, long value,
        CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<ImmutableList<long>> ReadAsync([VersionKey] string list,
        CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<ImmutableDictionary<string, ImmutableList<long>>> SnapshotAsync(
        CancellationToken cancellationToken = default);

    private void ApplyAppend(string list, long value) => _lists = _lists.SetItem(list, ReadRead(list).Add(value));

    private ImmutableList<long> ReadRead(string list) =>
        _lists.TryGetValue(list, out ImmutableList<long>? values) ? values : [];

    private ImmutableDictionary<string, ImmutableList<long>> ReadSnapshot() => _lists;
}
