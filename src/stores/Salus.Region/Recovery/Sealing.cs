namespace Salus.Region.Recovery;

/// <summary>The end of a generation: from then on none of its members changes what its store shows, or signs what it
/// has not signed (S8).</summary>
internal static class Sealing
{
    /// <summary>Waits until every member is sealed at its store, or its process has lost its lease for good. The agent
    /// expels a member that does neither.</summary>
    public static Task EndAsync(RecoveryPorts ports, StoreCalls stores, RegionGeneration ended,
        CancellationToken cancellationToken) => Planted.Is("replaced-without-waiting")
        ? Task.CompletedTask
        : Task.WhenAll(ended.Members.Select(member => EndAsync(ports, stores, member, cancellationToken)));

    private static async Task EndAsync(
        RecoveryPorts ports, StoreCalls stores, RegionMember member, CancellationToken cancellationToken)
    {
        // False is final, so a view that lags makes the wait longer and nothing worse. A later process of the store
        // signs nothing for the generation (S7).
        while (ports.Map.Nodes.MayLive(member.Store, member.Incarnation))
        {
            if (await stores.TrySealAsync(member.Store, cancellationToken)) return;
            await ports.PauseAsync(cancellationToken);
        }
    }
}
