namespace Corfu.Transport.Tests.Tls;

/// <summary>The system's time, with a calendar that a test moves.</summary>
internal sealed class ShiftedTime : TimeProvider
{
    public TimeSpan Shift { get; set; }

    public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + Shift;
}
