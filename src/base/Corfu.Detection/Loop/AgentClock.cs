namespace Corfu.Detection;

/// <summary>Monotonic time since the agent's construction.</summary>
public sealed class AgentClock(TimeProvider time)
{
    private readonly long _started = time.GetTimestamp();

    public TimeProvider Time => time;

    public TimeSpan Now => time.GetElapsedTime(_started);
}
