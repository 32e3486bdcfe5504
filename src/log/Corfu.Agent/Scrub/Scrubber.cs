using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Agent;

/// <summary>Progress of a scrub; another scrub can resume from it.</summary>
/// <param name="Pass">Counts from 1.</param>
/// <param name="Next">Everything below is compared in this pass.</param>
/// <param name="Until">The end of the pass: the end of the units' pages when the pass began.</param>
/// <param name="Sound">Positions of this pass that all replicas hold alike.</param>
/// <param name="Mended">Positions of this pass that a replica had lost or damaged, and has again.</param>
/// <param name="Unrecoverable">Positions of this pass without a good copy.</param>
/// <param name="Diverged">Positions of this pass whose good copies differ.</param>
public sealed record ScrubProgress(int Pass, LogPosition Next, LogPosition Until, long Sound, long Undecided,
    long Mended, long Unrecoverable, long Diverged)
{
    internal static readonly ScrubProgress None = new(0, default, default, 0, 0, 0, 0, 0);

    public bool IsDone => Next >= Until;

    /// <summary>Positions of this pass that were compared.</summary>
    public long Done => Sound + Undecided + Mended + Unrecoverable + Diverged;
}

/// <summary>Finds pages that a replica has lost or damaged before a read meets them. Such pages are repaired while
/// there is a good copy. Works on any log, in any number of processes.</summary>
public sealed class Scrubber
{
    private readonly ClusterClient _client;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly ScrubOptions _options;
    private readonly RateLimit _rate;
    private volatile ScrubProgress _progress;

    /// <param name="resume">Progress of an earlier scrub; null: a first pass.</param>
    public Scrubber(ClusterClient client, TimeProvider time, ILogger? logger = null, ScrubOptions? options = null,
        ScrubProgress? resume = null)
    {
        _client = client;
        _time = time;
        _logger = logger ?? NullLogger.Instance;
        _options = options ?? new ScrubOptions();
        _options.Validate();
        _rate = new RateLimit(time, _options.PositionsPerSecond);
        _progress = resume ?? ScrubProgress.None;
    }

    /// <summary>Any thread.</summary>
    public ScrubProgress Progress => _progress;

    /// <summary>Finishes the pass that was cut short, or makes a new one.</summary>
    public async Task<ScrubProgress> RunPassAsync(CancellationToken cancellationToken = default)
    {
        if (_progress.IsDone) await BeginAsync(cancellationToken);
        while (!_progress.IsDone)
        {
            var progress = _progress;

            // A prefix trim may have released the next positions.
            var from = LogPosition.Min(LogPosition.Max(progress.Next, _client.Projection.TrimMark), progress.Until);
            var count = (int)Math.Min(_options.Batch, progress.Until - from);
            if (count > 0)
            {
                await _rate.TakeAsync(count, cancellationToken);
                if (await AuditAsync(from, count, cancellationToken) is not { } audit) continue;
                foreach (var position in audit.Diverged) AgentLog.Diverged(_logger, position.ToString());
                progress = progress with
                {
                    Sound = progress.Sound + audit.Sound,
                    Undecided = progress.Undecided + audit.Undecided,
                    Mended = progress.Mended + audit.Mended,
                    Unrecoverable = progress.Unrecoverable + audit.Unrecoverable.Length,
                    Diverged = progress.Diverged + audit.Diverged.Length,
                };
            }

            _progress = progress with { Next = from + count };
        }

        AgentLog.Scrubbed(_logger, _progress.Pass, _progress.Sound, _progress.Mended, _progress.Unrecoverable);
        return _progress;
    }

    private async Task BeginAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            try
            {
                var extent = await _client.FindExtentAsync(cancellationToken);
                var mark = LogPosition.Min(extent.TrimMark, extent.End);
                _progress = ScrubProgress.None with { Pass = _progress.Pass + 1, Next = mark, Until = extent.End };
                return;
            }
            catch (LogUnavailableException e)
            {
                await WaitAsync(e, cancellationToken);
            }
        }
    }

    private async Task<ReplicaAudit?> AuditAsync(LogPosition from, int count, CancellationToken cancellationToken)
    {
        try
        {
            return await _client.AuditReplicasAsync(from, count, cancellationToken);
        }
        catch (CorfuException e)
        {
            await WaitAsync(e, cancellationToken);
            return null;
        }
    }

    // Units that do not answer come back, or leave the projection.
    private async Task WaitAsync(CorfuException e, CancellationToken cancellationToken)
    {
        AgentLog.ScrubWaits(_logger, e.Message);
        await Task.Delay(_options.RetryDelay, _time, cancellationToken);
    }
}
