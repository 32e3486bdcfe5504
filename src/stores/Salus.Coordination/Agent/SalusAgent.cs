using Corfu.Detection;
using Microsoft.Extensions.Logging;
using Tango;
using Tango.Collections;

namespace Salus.Coordination;

/// <summary>The agent of a process: places the regions of new volumes, replaces members that are gone or accused,
/// expels processes that hold up a recovery, and clears up behind deleted volumes. Every process has one; the one that
/// is elected acts. All of it runs on one loop.</summary>
public sealed partial class SalusAgent : IAsyncDisposable
{
    public const string ElectionName = "salus/agent";

    // A step that succeeded shows in the next view, which follows soon.
    private static readonly TimeSpan s_settle = TimeSpan.FromMilliseconds(50);

    private readonly TangoRuntime _runtime;
    private readonly VolumeMap _map;
    private readonly TangoElection _election;
    private readonly SalusAgentOptions _options;
    private readonly ILogger _logger;
    private readonly NodeCalls _calls;
    private readonly AgentClock _clock;
    private readonly AgentLoop _loop;
    private readonly AgentCore _core;
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _running;

    // By the loop alone, as the next one. Null: another process leads, or none.
    private HeldLock? _leads;

    // Subjects of steps that are under way, and when the next step is taken.
    private readonly Dictionary<object, TimeSpan> _paused = [];

    private SalusAgent(TangoRuntime runtime, VolumeMap map, TangoElection election, AgentParts parts,
        SalusAgentOptions options)
    {
        (_runtime, _map, _election, _options, _logger) = (runtime, map, election, options, parts.Logger);
        _calls = new NodeCalls(parts.Transport, options.ProbeLimit, parts.Time);
        _clock = new AgentClock(parts.Time);
        // The pool runs callbacks side by side: an agent on it has a loop of its own.
        _loop = new AgentLoop(_clock, parts.Logger, parts.Loops == LoopContext.Pool ? null : parts.Loops);
        _core = new AgentCore(options);
        _running = Task.WhenAll(_loop.Run(StepsAsync), _loop.Run(LeadAsync));
    }

    /// <summary>Whether this agent acts, as far as it knows.</summary>
    public bool IsLeader => _leads is { IsHeld: true };

    /// <param name="runtime">The map's.</param>
    public static async ValueTask<SalusAgent> StartAsync(TangoRuntime runtime, VolumeMap map, AgentParts parts,
        SalusAgentOptions options, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(runtime);
        ArgumentNullException.ThrowIfNull(map);
        ArgumentNullException.ThrowIfNull(parts);
        SalusAgentOptions.Rules.Check(options);
        var election = new TangoElection(
            await runtime.OpenAsync<TangoLock>(ElectionName, OpenMode.Create, cancellationToken));
        return new SalusAgent(runtime, map, election, parts, options);
    }

    /// <summary>Gives up the lead, if this agent has it.</summary>
    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _running;
    }

    private async Task LeadAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                await using var held = await _election.CampaignAsync(Environment.MachineName, _options.TimeToLive,
                    _stop.Token);
                LogLeads();
                _core.BeginToLead(_clock.Now);
                _leads = held;
                await UntilLostAsync(held);
            }
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                return;
            }
            catch (Exception e) when (e is CorfuException or TangoException)
            {
                LogCampaignFailed(e);
                await PauseAsync(_options.Retry);
            }
            finally
            {
                _leads = null;
            }
        }
    }

    private async Task UntilLostAsync(HeldLock held)
    {
        using var either = CancellationTokenSource.CreateLinkedTokenSource(held.Lost, _stop.Token);
        try
        {
            await Task.Delay(Timeout.InfiniteTimeSpan, _clock.Time, either.Token);
        }
        catch (OperationCanceledException)
        {
            // The lead is lost, or the agent stops.
        }
    }

    private async Task StepsAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            var view = _map.View;
            try
            {
                Step(view);
            }
            catch (Exception e)
            {
                LogStepFailed(e);
            }

            await PauseAsync(s_settle);
            await UntilDueAsync(view);
        }
    }

    private async Task UntilDueAsync(MapView view)
    {
        using var due = new CancellationTokenSource(_options.Interval, _clock.Time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(due.Token, _stop.Token);
        try
        {
            await _map.WaitAsync(view, either.Token);
        }
        catch (OperationCanceledException)
        {
            // The interval is over, or the agent stops.
        }
    }

    private void Step(MapView view)
    {
        var now = _clock.Now;
        _core.Observe(view, now);
        foreach (var subject in _paused.Where(paused => paused.Value <= now).Select(static paused => paused.Key)
            .ToArray()) _paused.Remove(subject);
        if (_leads is not { IsHeld: true } held) return;
        foreach (var action in _core.Decide(now, _clock.Time.GetUtcNow().ToUnixTimeMilliseconds()))
        {
            if (_paused.TryAdd(action.Subject, TimeSpan.MaxValue)) _loop.Start(() => ActAsync(action, held));
        }
    }

    private async Task ActAsync(AgentAction action, HeldLock held)
    {
        var pause = _options.Retry;
        try
        {
            if (await TryActAsync(action, held.FencingToken)) pause = s_settle;
        }
        catch (TangoLeaseLostException)
        {
            LogOvertaken();
        }
        catch (Exception e) when (e is CorfuException or TangoException or OperationCanceledException)
        {
            // The log is away, or the outcome is unknown: the next view tells.
            if (!_stop.IsCancellationRequested) LogFailed(action.GetType().Name, action.Subject, e);
        }
        finally
        {
            _paused[action.Subject] = _clock.Now + pause;
        }
    }

    private async Task PauseAsync(TimeSpan time)
    {
        try
        {
            await Task.Delay(time, _clock.Time, _stop.Token);
        }
        catch (OperationCanceledException)
        {
            // The agent stops.
        }
    }

    [LoggerMessage(1, LogLevel.Information, "This agent leads: it places and replaces the regions of all volumes")]
    private partial void LogLeads();

    [LoggerMessage(2, LogLevel.Warning, "The agent's election has failed; it goes on")]
    private partial void LogCampaignFailed(Exception error);

    [LoggerMessage(3, LogLevel.Error, "A step of the agent failed; the next one goes on")]
    private partial void LogStepFailed(Exception error);

    [LoggerMessage(4, LogLevel.Warning, "{Step} of {Subject} has failed; it is looked at again")]
    private partial void LogFailed(string step, object subject, Exception error);

    [LoggerMessage(5, LogLevel.Information, "Another agent leads by now")]
    private partial void LogOvertaken();
}

/// <summary>The parts that an agent works with besides the log.</summary>
/// <param name="Transport">To region servers and stores.</param>
/// <param name="Loops">Keeps everything on one thread, as a simulator does. Null: the thread pool, one callback at a
/// time.</param>
public sealed record AgentParts(ITransport Transport, TimeProvider Time, LoopContext? Loops, ILogger Logger);
