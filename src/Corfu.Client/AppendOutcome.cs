using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>What became of an append.</summary>
public enum AppendOutcome
{
    /// <summary>In the log, durable at every replica of its chain.</summary>
    Appended,

    /// <summary>Could not be resolved: it may or may not be, or become, part of the log. Nothing retries it silently (R9).</summary>
    Unknown,

    /// <summary>Certainly not in the log and never will be. Only <see cref="ICorfuLog.ResolveAsync"/> says this: appends retry instead.</summary>
    NotAppended,
}
