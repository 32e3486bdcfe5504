using Orleans.Runtime;
using Tango;

namespace Corfu.Orleans.Clustering;

/// <summary>A row and the change that made it, which is its etag.</summary>
[MessagePackObject]
internal sealed record StoredMember([property: Key(0)] MemberRow Row, [property: Key(1)] long Etag);

/// <summary>The whole table at one position of the log.</summary>
[MessagePackObject]
internal sealed record MembershipView(
    [property: Key(0)] int Version,
    [property: Key(1)] long Etag,
    [property: Key(2)] ImmutableArray<StoredMember> Members);

/// <summary>
/// Orleans' membership table: rows and the table's version change together, and only if the caller has seen the newest
/// version. All of it is one object without version keys: every change depends on the table's version.
/// </summary>
/// <remarks>Invariants: every etag of a row is at most <c>_changes</c>; <c>_etag</c> is the change that wrote the
/// version. <c>_changes</c> only grows, so no etag is ever given twice, not even after the table was cleared.</remarks>
[TangoObject("corfu.orleans.membership")]
internal sealed partial class MembershipObject : TangoObject
{
    private long _changes;
    private int _version;
    private long _etag;
    private ImmutableSortedDictionary<string, StoredMember> _members =
        ImmutableSortedDictionary.Create<string, StoredMember>(StringComparer.Ordinal);

    /// <summary>False: the silo has a row, or the table has changed since the caller read it.</summary>
    [Mutator(1)]
    public partial ValueTask<bool> InsertAsync(MemberRow row, int newVersion, long seenEtag,
        CancellationToken cancellationToken = default);

    /// <summary>False: the silo has no row, or the row or the table has changed since the caller read it.</summary>
    [Mutator(2)]
    public partial ValueTask<bool> UpdateAsync(MemberRow row, long seenRow, int newVersion, long seenEtag,
        CancellationToken cancellationToken = default);

    /// <summary>Changes neither an etag nor the version; nothing where the silo has no row.</summary>
    [Mutator(3)]
    public partial ValueTask TouchAsync(string silo, long aliveTicks, CancellationToken cancellationToken = default);

    /// <summary>Removes the rows of silos that are not active and were last heard of before that time.</summary>
    [Mutator(4)]
    public partial ValueTask<int> RemoveDefunctAsync(long beforeTicks, CancellationToken cancellationToken = default);

    /// <summary>As if no silo had ever been there.</summary>
    [Mutator(5)]
    public partial ValueTask ClearAsync(CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<MembershipView> AllAsync(CancellationToken cancellationToken = default);

    /// <summary>The table with that silo's row alone, if there is one.</summary>
    [Accessor]
    public partial ValueTask<MembershipView> OneAsync(string silo, CancellationToken cancellationToken = default);

    private bool ApplyInsert(MemberRow row, int newVersion, long seenEtag)
    {
        if (seenEtag != _etag || _members.ContainsKey(row.Silo)) return false;
        Put(row, newVersion);
        return true;
    }

    private bool ApplyUpdate(MemberRow row, long seenRow, int newVersion, long seenEtag)
    {
        if (seenEtag != _etag || !_members.TryGetValue(row.Silo, out var stored) || stored.Etag != seenRow)
            return false;
        Put(row, newVersion);
        return true;
    }

    private void ApplyTouch(string silo, long aliveTicks)
    {
        if (!_members.TryGetValue(silo, out var stored)) return;
        _members = _members.SetItem(silo, stored with { Row = stored.Row with { AliveTicks = aliveTicks } });
    }

    private int ApplyRemoveDefunct(long beforeTicks)
    {
        var before = _members.Count;
        _members = _members.RemoveRange(_members
            .Where(member => IsDefunct(member.Value.Row, beforeTicks))
            .Select(static member => member.Key));
        return before - _members.Count;
    }

    private void ApplyClear()
    {
        _members = _members.Clear();
        _version = 0;
        _etag = ++_changes;
    }

    private MembershipView ReadAll() => new(_version, _etag, [.. _members.Values]);

    private MembershipView ReadOne(string silo) =>
        new(_version, _etag, _members.TryGetValue(silo, out var stored) ? [stored] : []);

    private void Put(MemberRow row, int newVersion)
    {
        _etag = ++_changes;
        _version = newVersion;
        _members = _members.SetItem(row.Silo, new StoredMember(row, _etag));
    }

    private static bool IsDefunct(MemberRow row, long beforeTicks) =>
        row.Status != (int)SiloStatus.Active && Math.Max(row.AliveTicks, row.StartTicks) < beforeTicks;
}
