using Microsoft.Extensions.Logging;

namespace Salus;

/// <summary>
/// A mounted volume: turns writes into batches that commit in their order, and reads into verified answers of members
/// (the paper's block driver).
/// </summary>
/// <remarks>Any thread. All state is guarded by one gate; nothing is awaited, sent or completed under it.</remarks>
internal sealed partial class VolumeDriver : IVolume
{
    private enum Phase
    {
        /// <summary>Batches leave.</summary>
        Writing,

        /// <summary>A store has refused a batch: a new run begins, and requests collect meanwhile (S16).</summary>
        Reopening,

        /// <summary>Every call fails.</summary>
        Over,
    }

    private readonly VolumePorts _ports;
    private readonly SalusClientOptions _options;
    private readonly VolumeGeometry _geometry;
    private readonly IWriterLease _lease;
    private readonly Signer _signer;
    private readonly MemberAsker _asker;
    private readonly CancellationTokenSource _stop = new();
    private readonly CancellationTokenRegistration _losing;
    private readonly Lock _gate = new();

    // All below is guarded by _gate.
    private readonly BatchQueue _queue;
    private readonly RegionLink[] _regions;
    private readonly VolumeTree _tree;
    private Phase _phase;
    private VolumeException? _over;
    private bool _isPumping;
    private bool _isClosing;
    private long _run;

    // The newest numbered batch, and its leader; null: none in this run.
    private long _lastNumber;
    private int? _lastLeader;

    // The newest committed batch, the volume's root after it, and its proof; null: none in this run.
    private long _committed;
    private Hash128 _committedRoot;
    private CommitProof? _proof;
    private Task _tending = Task.CompletedTask;

    private VolumeDriver(VolumePorts ports, SalusClientOptions options, IWriterLease lease, Signer signer,
        OpenedRun opened, VolumeTree tree)
    {
        (_ports, _options, _lease, _signer, _tree) = (ports, options, lease, signer, tree);
        _geometry = ports.Log.State.Head.Geometry!;
        _accusations = new Accusations(ports, options.StallTime, _stop.Token);
        _asker = ports.Asker(options, _accusations.Accuse);
        _reader = new PieceReader(_asker, ports.Log.Volume, _geometry.BlockSize);
        _pages = new PageLoader(_asker, ports.Loops, ports.Log.Volume, _stop.Token);
        _queue = new BatchQueue(options.Window, options.WindowBytes);
        _regions = [.. opened.Regions.Select(static (region, number) => new RegionLink(number, region))];
        (_run, _lastNumber, _committed) = (opened.Run, opened.Decision.Batch.Number, opened.Decision.Batch.Number);
        (_committedRoot, _stable) = (opened.Decision.VolumeRoot, ports.Log.State.Head.Stable);
        if (Planted.Is("reads-outlive-the-lease")) return;
        _losing = lease.Lost.UnsafeRegister(
            static driver => ((VolumeDriver)driver!).Lose(VolumeFault.LeaseLost, "The lock of the volume has ended."),
            this);
    }

    public long Size => _geometry.Size;

    public int BlockSize => _geometry.BlockSize;

    public bool IsReadOnly => false;

    private VolumeId Volume => _ports.Log.Volume;

    private bool IsHeld => _lease.IsHeld || Planted.Is("reads-outlive-the-lease");

    public VolumeUse Describe()
    {
        lock (_gate)
        {
            return new VolumeUse(Volume, _run, _committed, _stable, _queue.Sent,
                _queue.Oldest is { } oldest ? _ports.Time.GetElapsedTime(oldest.SentAt) : TimeSpan.Zero,
                [.. _regions.Where(static link => link.Generation is null).Select(static link => link.Region)]);
        }
    }

    private int BlocksIn(int bytes)
    {
        if (bytes <= 0 || bytes % BlockSize != 0)
            throw new ArgumentException($"{bytes} bytes are no whole blocks of {BlockSize}.");
        return bytes / BlockSize;
    }

    private void CheckRange(long first, long count)
    {
        if (first < 0 || count <= 0 || first > _geometry.Blocks - count)
        {
            throw new ArgumentOutOfRangeException(nameof(first),
                $"{count} blocks from {first} on: the volume has {_geometry.Blocks}.");
        }
    }

    // Under the gate.
    private void ThrowIfOver()
    {
        if (_over is { } over) throw Again(over);
        if (_isClosing) throw new VolumeException(VolumeFault.LeaseLost, "The volume is being closed.");
        // A process that was stopped learns here what its timers will say later (S13).
        if (!IsHeld) throw new VolumeException(VolumeFault.LeaseLost, "The lock of the volume has ended.");
    }

    // An exception for each caller: each adds its own stack.
    private static VolumeException Again(VolumeException why) => new(why.Fault, why.Message, why) { Block = why.Block };

    /// <summary>Ends the use of the volume for all callers, now and later. Any thread; once.</summary>
    private void Lose(VolumeFault fault, string reason)
    {
        List<Batch> lost;
        lock (_gate)
        {
            if (_phase == Phase.Over) return;
            _phase = Phase.Over;
            _over = new VolumeException(fault, reason);
            lost = _queue.TakeAll();
            foreach (var batch in lost) batch.End(_over);
        }

        SalusClientTelemetry.Mounted.Add(-1);
        if (!_isClosing)
        {
            SalusClientLog.Lost(_ports.Logger, Volume, reason);
            SalusClientTelemetry.LostLeases.Add(1);
        }

        _stop.Cancel();
        for (var i = lost.Count - 1; i >= 0; i--) lost[i].Answer();
    }
}
