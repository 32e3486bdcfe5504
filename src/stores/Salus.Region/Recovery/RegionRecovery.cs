using System.Collections.Concurrent;
using Salus.Region.Body;
using Salus.Store.Files;

namespace Salus.Region.Recovery;

/// <summary>Recovers the regions of one process.</summary>
public sealed class RegionRecovery : IRegionRecovery
{
    private readonly RecoveryPorts _ports;
    private readonly LoopContext _loops;

    // The newest recovery of each region. Entries stay: a repeated pass is answered again.
    private readonly ConcurrentDictionary<RegionKey, GenerationRecovery> _newest = new();

    /// <param name="store">The own store; the log and the files are its.</param>
    /// <param name="signer">The process's incarnation, as the book has it.</param>
    public RegionRecovery(StoreId store, Signer signer, StoreLog log, IRegionFiles files, IRegionBodies bodies,
        IRegionMap map, ITransport transport, RecoveryTimes times)
    {
        RecoveryOptions.Rules.Check(times.Options);
        _ports = new RecoveryPorts(store, signer, log, files, bodies, map, transport, times.Time, times.Options);
        _loops = times.Loops;
    }

    public async Task<RecoveredRegion> RecoverAsync(
        RegionKey region, RegionGeneration generation, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(generation);
        var volume = await StateAsync(region, generation.Number, cancellationToken);
        if (volume.Regions[region.Region].Current is { Opening.Index: 0 })
            return await BeginAsync(region, volume, cancellationToken);
        // Opened before, and given up by this process since: nothing is signed in it twice (S2). The agent replaces it.
        if (volume.Regions[region.Region].Current.Opening is not null)
            await Task.Delay(Timeout.InfiniteTimeSpan, _ports.Time, cancellationToken);
        var recovery = new GenerationRecovery(_ports, region, volume);
        _newest[region] = recovery;
        return await recovery.RunAsync(cancellationToken);
    }

    public void Adopt(AdoptRequest request, ReplyTo reply)
    {
        ArgumentNullException.ThrowIfNull(request);
        if (!_newest.TryGetValue(request.Region, out var recovery) || recovery.Generation < request.Epoch)
        {
            // This process has not played the generation yet.
            reply.Send(request.Fail(SalusStatus.Pending, request.Epoch));
        }
        else if (recovery.Generation > request.Epoch)
        {
            reply.Send(request.Fail(Status.Sealed, recovery.Generation));
        }
        else
        {
            _loops.Start(() => AnswerAsync(recovery, request, reply));
        }
    }

    private static async Task AnswerAsync(GenerationRecovery recovery, AdoptRequest request, ReplyTo reply)
    {
        Response answer;
        try
        {
            answer = await recovery.AdoptAsync(request);
        }
        catch (StoreFailedException)
        {
            answer = request.Fail(Status.Failed, request.Epoch);
        }

        reply.Send(answer);
    }

    // A new region has nothing to read, and no members that could disagree.
    private async Task<RecoveredRegion> BeginAsync(
        RegionKey region, VolumeState volume, CancellationToken cancellationToken)
    {
        var opened = await _ports.Bodies.OpenAsync(region, volume.Head.Geometry!, [], default, cancellationToken);
        return opened is null
            ? throw new IOException($"{region} is new and cannot be opened at present.")
            : new RecoveredRegion(opened.Body, 0, default, 0, null, default, null, []);
    }

    // A state in which the generation is the newest: it names all manifests, for the generations before publish none.
    private async Task<VolumeState> StateAsync(
        RegionKey region, Epoch generation, CancellationToken cancellationToken)
    {
        while (true)
        {
            if (_ports.Map.Find(region.Volume) is { } volume
                && volume.Regions.GetValueOrDefault(region.Region)?.Current.Number == generation)
                return volume;
            // Behind a newer one, the wait ends by the token.
            await _ports.PauseAsync(cancellationToken);
        }
    }
}

/// <summary>The clock, the loops and the patience of recoveries.</summary>
public sealed record RecoveryTimes(TimeProvider Time, LoopContext Loops, RecoveryOptions Options);
