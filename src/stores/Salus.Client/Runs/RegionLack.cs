namespace Salus.Runs;

/// <summary>Acknowledged batches that a region's newest generation does not show, though its writer knows that they
/// were committed.</summary>
/// <param name="Since">The first look since which all stores were read, as a timestamp.</param>
/// <param name="Seen">The last look, as a timestamp.</param>
/// <param name="Committed">The region's last acknowledged batch.</param>
/// <param name="Shown">The last batch that the region shows.</param>
/// <param name="Away">Stores that may have them, as the recovery has not read all. None: they are lost.</param>
internal sealed record RegionLack(
    int Region, long Since, long Seen, long Committed, long Shown, ImmutableArray<StoreId> Away)
{
    /// <summary>Null: the generation shows all that was acknowledged.</summary>
    /// <param name="committed">The region's last acknowledged batch.</param>
    // All members of the newest admitted generation have had every batch that was acknowledged, durable. The stores of
    // their processes count, also of those that host no region any more; a forgotten one never returns.
    public static RegionLack? Of(
        int region, RegionState known, NodeBookView nodes, BatchName committed, long since, long now)
    {
        if (known.Current.Opening is not { } opening || opening.Last.Number >= committed.Number) return null;
        ImmutableArray<StoreId> away =
        [
            .. known.Anchor.Members.Select(static member => member.Store)
                .Where(store => nodes.Find(store) is not null),
        ];
        if (opening.StoresRead >= away.Length) away = [];
        // The log does not say which ones were read.
        else if (away.Any(IsGone)) away = away.RemoveAll(store => !IsGone(store));
        return new RegionLack(region, since, now, committed.Number, opening.Last.Number, away);

        bool IsGone(StoreId store) => nodes.Find(store)!.State != BookedState.Live;
    }

    public string Sentence =>
        $"Region {Region} lacks writes that were acknowledged: batch {Committed} is committed, {Shown} is there";
}
