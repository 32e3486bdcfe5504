using Corfu.Protocol;

namespace Corfu.Client;

public sealed partial class Reconfigurer
{
    /// <summary>
    /// Repeats what brought about an epoch that is in force: seals, promises, votes, installs, all idempotent, so that nothing changes. Then the ways to all
    /// nodes are open and the code is compiled, here and there: the first reconfiguration that somebody waits for does not take a tenth of a second.
    /// </summary>
    /// <param name="change">Computed, and thrown away.</param>
    /// <exception cref="ReconfigurationException">A unit does not answer, or the change breaks a rule.</exception>
    public async Task RehearseAsync(Projection decided, Func<Projection, Membership?> change, CancellationToken cancellationToken = default)
    {
        var seals = new SealRound(_transport, _time, _options, decided, decided.Epoch);
        if (!await seals.RunAsync(Membership.Of(decided), cancellationToken)) return;
        await _layout.RehearseAsync(decided, cancellationToken);
        await InstallAsync(decided, cancellationToken);
        if (change(decided) is not { } membership) return;
        MembershipRules.Check(decided, membership);
        _ = Compute(decided, membership, seals, "");
    }
}
