namespace Corfu.Client;

public sealed partial class Reconfigurer
{
    /// <summary>An override for an operator alone. The caller asserts that a majority of the acceptors is destroyed
    /// and will never answer again, so that no epoch can be decided any more. (1) Every unit is sealed two epochs on,
    /// so that an epoch that the lost acceptors may have decided is never served. (2) No unit has installed an epoch
    /// above the newest that is known. (3) The new acceptors take over the projection without a ballot.</summary>
    /// <param name="newest">The newest decided projection that a surviving acceptor knows.</param>
    /// <param name="acceptors">An odd number, surviving or fresh. All must take over.</param>
    /// <exception cref="ReconfigurationException">A unit does not answer, or has served an epoch that no survivor
    /// knows. Nothing is decided.</exception>
    // R12's override.
    public async Task<Projection> ReplaceDestroyedAcceptorsAsync(Projection newest,
        ImmutableArray<NodeAddress> acceptors, string reason, CancellationToken cancellationToken = default)
    {
        var membership = Membership.Of(newest) with { Acceptors = acceptors };
        MembershipRules.Check(newest, membership);
        var epoch = newest.Epoch.Next.Next;
        var seals = new SealRound(transport, time, _options, newest, epoch);
        if (!await seals.RunAsync(membership, cancellationToken))
            throw new ReconfigurationException($"Units are sealed beyond {epoch}: a newer projection exists.");
        foreach (var unit in newest.Units) await RequireNotBeyondAsync(unit, newest, epoch, cancellationToken);
        seals.Raise(await GrantedAsync(newest, cancellationToken));
        var decreed = Compute(newest, membership, seals, reason, epoch);
        await layout.HandOverAsync(decreed, cancellationToken);
        await InstallAsync(decreed, cancellationToken);
        return decreed;
    }

    private async Task RequireNotBeyondAsync(
        NodeAddress unit, Projection newest, Epoch epoch, CancellationToken cancellationToken)
    {
        try
        {
            var sealing = await SealRound.CallAsync(transport, unit, newest, epoch, cancellationToken);
            var info = await transport.CallAsync(unit, new UnitInfoRequest(Epoch.None), cancellationToken);
            if (!sealing.IsOk || !info.IsOk)
                throw new ReconfigurationException(
                    $"Unit {unit} cannot be sealed ({sealing.Status}): take it out first, or bring it back.");
            if (info.Installed > newest.Epoch)
                throw new ReconfigurationException(
                    $"Unit {unit} has served {info.Installed}, which the survivor does not know: name one that does, "
                    + "or bring it back.");
        }
        catch (TransportException e)
        {
            throw new ReconfigurationException(
                $"Unit {unit} does not answer, and may have served a newer epoch: {e.Message}");
        }
    }
}
