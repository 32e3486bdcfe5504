namespace Salus.Region.Tests.Support;

/// <summary>The system's clock, whose time stamps stand still and whose timers never end when it is told so.</summary>
internal sealed class StoppableTime : TimeProvider
{
    private long? _stopped;

    public void Stop() => _stopped = System.GetTimestamp();

    public override long GetTimestamp() => _stopped ?? System.GetTimestamp();

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        System.CreateTimer(
            held =>
            {
                if (_stopped is null) callback(held);
            },
            state, dueTime, period);
}
