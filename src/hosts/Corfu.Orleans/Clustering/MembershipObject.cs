using Orleans.Runtime;
using Tango;

namespace Corfu.Orleans.Clustering;

/// <summary>A row and the etag that its writer gave it.</summary>
[MessagePackObject]
internal sealed record StoredMember([property: Key(0)] MemberRow Row, [property: Key(1)] Guid Etag);

/// <summary>The whole table at one position of the log.</summary>
[MessagePackObject]
internal sealed record MembershipView(
    [property: Key(0)] int Version,
    [property: Key(1)] Guid Etag,
    [property: Key(2)] ImmutableArray<StoredMember> Members);

/// <summary>
/// Orleans' membership table: rows and the table's version change together, and only if the caller has seen the newest
/// version. All of it is one object without version keys: every change depends on the table's version.
/// </summary>
/// <remarks>Writers choose the etags, one for the row and the version that a change writes. No etag is therefore ever
/// given twice, not even by a table that replaces a deleted one. A table that was never written has the empty
/// etag.</remarks>
[TangoObject("corfu.orleans.membership")]
internal sealed partial class MembershipObject : TangoObject
{
    private int _version;
    private Guid _etag;
    private ImmutableSortedDictionary<string, StoredMember> _members =
        ImmutableSortedDictionary.Create<string, StoredMember>(StringComparer.Ordinal);

    /// <summary>False: the silo has a row, or the table has changed since the caller read it.</summary>
    [Mutator(1)]
    public partial ValueTask<bool> InsertAsync(MemberRow row, int newVersion, Guid seenEtag, Guid next,
        CancellationToken cancellationToken = default);

    /// <summary>False: the silo has no row, or the row or the table has changed since the caller read it. The silo was
    /// last heard of at the later of both times: others write the row as they read it.</summary>
    [Mutator(2)]
    public partial ValueTask<bool> UpdateAsync(MemberRow row, Guid seenRow, int newVersion, Guid seenEtag, Guid next,
        CancellationToken cancellationToken = default);

    /// <summary>Changes neither an etag nor the version; nothing where the silo has no row.</summary>
    [Mutator(3)]
    public partial ValueTask TouchAsync(string silo, long aliveTicks, CancellationToken cancellationToken = default);

    /// <summary>Removes the rows of silos that are not active, if all of start, last sign of life and newest vote
    /// against them are before that time.</summary>
    [Mutator(4)]
    public partial ValueTask<int> RemoveDefunctAsync(long beforeTicks, CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<MembershipView> AllAsync(CancellationToken cancellationToken = default);

    /// <summary>The table with that silo's row alone, if there is one.</summary>
    [Accessor]
    public partial ValueTask<MembershipView> OneAsync(string silo, CancellationToken cancellationToken = default);

    private bool ApplyInsert(MemberRow row, int newVersion, Guid seenEtag, Guid next)
    {
        if (seenEtag != _etag || _members.ContainsKey(row.Silo)) return false;
        Put(row, newVersion, next);
        return true;
    }

    private bool ApplyUpdate(MemberRow row, Guid seenRow, int newVersion, Guid seenEtag, Guid next)
    {
        if (seenEtag != _etag || !_members.TryGetValue(row.Silo, out var stored) || stored.Etag != seenRow)
            return false;
        Put(row with { AliveTicks = Math.Max(row.AliveTicks, stored.Row.AliveTicks) }, newVersion, next);
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

    private MembershipView ReadAll() => new(_version, _etag, [.. _members.Values]);

    private MembershipView ReadOne(string silo) =>
        new(_version, _etag, _members.TryGetValue(silo, out var stored) ? [stored] : []);

    private void Put(MemberRow row, int newVersion, Guid next)
    {
        (_version, _etag) = (newVersion, next);
        _members = _members.SetItem(row.Silo, new StoredMember(row, next));
    }

    // A vote counts too: a silo that was declared dead just now must find that when it wakes up.
    private static bool IsDefunct(MemberRow row, long beforeTicks)
    {
        var last = Math.Max(row.AliveTicks, row.StartTicks);
        foreach (var vote in row.Suspicions ?? []) last = Math.Max(last, vote.UtcTicks);
        return row.Status != (int)SiloStatus.Active && last < beforeTicks;
    }
}
