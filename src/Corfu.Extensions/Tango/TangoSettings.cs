using Microsoft.Extensions.Options;
using Tango;

namespace Corfu.Extensions;

/// <summary>The host's Tango runtime.</summary>
public sealed class TangoSettings
{
    /// <summary>Limits of the runtime.</summary>
    public TangoOptions Runtime { get; set; } = new();
}

/// <summary>All faults in one message.</summary>
internal sealed class TangoSettingsValidator : IValidateOptions<TangoSettings>
{
    public ValidateOptionsResult Validate(string? name, TangoSettings options)
    {
        var runtime = options.Runtime;
        (bool Holds, string Fault)[] rules =
        [
            (runtime.MaxQueuedCalls > 0, "MaxQueuedCalls must be positive."),
            (runtime.MaxAppendsInFlight > 0, "MaxAppendsInFlight must be positive."),
            (runtime.MaxBatchRecords > 0, "MaxBatchRecords must be positive."),
            (runtime.MaxBatchBytes > 0, "MaxBatchBytes must be positive."),
            (runtime.MaxBatchStreams > 0, "MaxBatchStreams must be positive."),
            (runtime.MaxResolveAttempts > 0, "MaxResolveAttempts must be positive."),
            (runtime.MaxPlaybackAttempts > 0, "MaxPlaybackAttempts must be positive."),
            (runtime.RetryDelay > TimeSpan.Zero, "RetryDelay must be positive."),
            (runtime.MaxRetryDelay >= runtime.RetryDelay, "MaxRetryDelay must be at least RetryDelay."),
            (runtime.PublishEvery > 0, "PublishEvery must be positive."),
            (runtime.NewObjectVersionCapacity > 0, "NewObjectVersionCapacity must be positive."),
        ];
        var faults = rules.Where(rule => !rule.Holds).Select(rule => "Runtime: " + rule.Fault).ToList();
        return faults.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(faults);
    }
}
