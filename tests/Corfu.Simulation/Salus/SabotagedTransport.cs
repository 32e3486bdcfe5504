using System.Collections.Immutable;
using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Transport;
using Salus.Protocol;

namespace Corfu.Simulation.Salus;

/// <summary>Messages of a machine to other region servers: wrong, in another order, or such as no correct member
/// sends.</summary>
internal sealed class SabotagedTransport(
    SimSalusMachine machine, ITransport inner, TimeProvider time, SimRandom random) : TransportWrapper(inner)
{
    private const double FlippedShare = 0.1;
    private const double MemoryShare = 0.02;
    private const double WrongShare = 0.3;

    private static readonly TimeSpan s_longest = TimeSpan.FromMilliseconds(20);

    private readonly Dictionary<RegionKey, ForwardRequest> _before = [];

    public override async ValueTask<TResponse> CallAsync<TResponse>(
        NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
    {
        if (machine.Sabotage == SalusFault.Reorder && request is ForwardRequest && random.Chance(WrongShare))
            await Task.Delay(s_longest * random.NextDouble(), time, cancellationToken);
        if (machine.Sabotage == SalusFault.FlipMemory && request is ForwardRequest kept && random.Chance(MemoryShare))
            Saboteur.FlipInPlace(kept.Content, random);
        var response = await base.CallAsync(
            to, (Request<TResponse>)Changed(request), cancellationToken);
        if (request is ForwardRequest { Signatures.Length: 1 } forward && Unwanted(forward) is { } unwanted)
            await TryCallAsync(to, unwanted, cancellationToken);
        return response;
    }

    private Request Changed(Request request) => (machine.Sabotage, request) switch
    {
        (SalusFault.FlipForward, ForwardRequest { Content.IsEmpty: false } forward) when random.Chance(FlippedShare) =>
            forward with { Content = Saboteur.Flipped(forward.Content, random) },
        (SalusFault.ShortCertificate, CommitRequest commit) when random.Chance(WrongShare) =>
            commit with { Commit = commit.Commit with { Certificate = Short(commit.Commit.Certificate) } },
        (SalusFault.ShortCertificate, VoteRequest vote) when random.Chance(WrongShare) =>
            vote with { Vote = vote.Vote with { Certificate = Short(vote.Vote.Certificate) } },
        (SalusFault.ShortReport, FenceRequest { Report.Above: [.. var fewer, _] } fence)
            when fence.Signatures.Length == 1 =>
            Signed(fence with { Report = fence.Report with { Above = [.. fewer] } }),
        _ => request,
    };

    // A certificate with one signature of three.
    private static Certificate Short(Certificate certificate) =>
        certificate with { Signatures = certificate.Signatures[..1] };

    private FenceRequest Signed(FenceRequest fence) => fence with
    {
        Signatures = [Sign(Statement.Report(fence.Region, fence.Epoch, fence.Report.Digest))],
    };

    private WeakSignature Sign(in Statement statement) => new Signer(machine.Incarnation).Sign(statement);

    // A primary's second content for an index, or its wish that others delete what it says.
    private Request? Unwanted(ForwardRequest forward)
    {
        var before = _before.GetValueOrDefault(forward.Head.Region);
        _before[forward.Head.Region] = forward with { Content = forward.Content.ToArray() };
        switch (machine.Sabotage)
        {
            case SalusFault.Equivocate when before is not null && before.Head.Digest != forward.Head.Digest
                && random.Chance(WrongShare):
                var other = forward.Head with { Kind = before.Head.Kind, Digest = before.Head.Digest };
                return forward with { Head = other, Content = before.Content, Signatures = [Sign(other.Logged)] };
            case SalusFault.AskDelete when random.Chance(FlippedShare):
                var (region, epoch, index) = (forward.Head.Region, forward.Epoch, forward.Head.Index);
                return new ReleaseRequest(epoch, region, long.MaxValue, index,
                    [Sign(Statement.Release(region, epoch, long.MaxValue, index))]);
            default:
                return null;
        }
    }

    private async ValueTask TryCallAsync(NodeAddress to, Request request, CancellationToken cancellationToken)
    {
        try
        {
            if (request is ForwardRequest forward) await base.CallAsync(to, forward, cancellationToken);
            else if (request is ReleaseRequest release) await base.CallAsync(to, release, cancellationToken);
        }
        catch (CorfuException)
        {
            // Nothing depends on the answer.
        }
    }
}
