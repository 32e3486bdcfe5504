namespace Craq.Coordination;

/// <summary>The epochs in which a lease that has not ended counts (C7).</summary>
internal static class LeaseRule
{
    /// <summary>The epoch is the newest in a state of the directory that has this very lease: a node whose lease ended
    /// may have been removed before the next one was granted.</summary>
    /// <param name="granted">The first revision of the directory that has the lease.</param>
    public static bool Covers(long granted, DirectoryView view, ChainConfig config) =>
        Planted.Is("serves-by-a-new-lease")
        || (view.Revision >= granted && view.Chains.TryGetValue(config.Id, out var newest)
            && newest.Epoch == config.Epoch && newest.Options.Reads == EpochProof.Leased);
}
