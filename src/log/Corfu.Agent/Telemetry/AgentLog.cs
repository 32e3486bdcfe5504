namespace Corfu.Agent;

internal static partial class AgentLog
{
    [LoggerMessage(13, LogLevel.Warning, "Reconfiguring: {Change}")]
    public static partial void Deciding(ILogger logger, string change);

    [LoggerMessage(14, LogLevel.Information,
        "Not reconfigured: the other agents do not share the suspicion ({Change})")]
    public static partial void Disagreed(ILogger logger, string change);

    [LoggerMessage(15, LogLevel.Warning, "The reconfiguration failed and will be tried again: {Why}")]
    public static partial void ChangeFailed(ILogger logger, string why);

    [LoggerMessage(16, LogLevel.Information, "Projection {Projection} ({Reason})")]
    public static partial void Learnt(ILogger logger, string projection, string reason);

    [LoggerMessage(17, LogLevel.Warning, "Held back: {Note}")]
    public static partial void Held(ILogger logger, string note);

    [LoggerMessage(18, LogLevel.Information, "Automatic reconfiguration is {State}")]
    public static partial void Automation(ILogger logger, string state);

    [LoggerMessage(20, LogLevel.Information, "Rebuilding the joining replicas of {Projection}")]
    public static partial void Rebuilding(ILogger logger, string projection);

    [LoggerMessage(21, LogLevel.Information,
        "No replica is joining any more: {Entries} entries, {Bytes} bytes copied in {Seconds} s")]
    public static partial void RebuildDone(ILogger logger, long entries, long bytes, double seconds);

    [LoggerMessage(22, LogLevel.Error, "The {Job} job failed and will be tried again: {Why}")]
    public static partial void JobFailed(ILogger logger, string job, string why);

    [LoggerMessage(23, LogLevel.Information, "Migrating the smallest of {Count} segments of {Projection}")]
    public static partial void Migrating(ILogger logger, int count, string projection);

    [LoggerMessage(24, LogLevel.Error, "A background task of the agent failed")]
    public static partial void TaskFailed(ILogger logger, Exception error);

    [LoggerMessage(25, LogLevel.Warning, "The {Job} job is passed on to the next agent: {Why}")]
    public static partial void PassedOn(ILogger logger, string job, string why);

    [LoggerMessage(26, LogLevel.Information, "The acceptor at {Acceptor} does not answer and takes no place now")]
    public static partial void NoAnswer(ILogger logger, string acceptor);

    [LoggerMessage(30, LogLevel.Information,
        "Scrub {Pass}: {Sound} positions sound, {Mended} mended, {Unrecoverable} without a good copy")]
    public static partial void Scrubbed(ILogger logger, int pass, long sound, long mended, long unrecoverable);

    [LoggerMessage(31, LogLevel.Warning, "The scrub waits: {Reason}")]
    public static partial void ScrubWaits(ILogger logger, string reason);

    [LoggerMessage(32, LogLevel.Error, "{Position} differs between the replicas of its chain")]
    public static partial void Diverged(ILogger logger, string position);

    [LoggerMessage(101, LogLevel.Information, "Unit {Unit} has everything from {From} to {Until}")]
    public static partial void Rebuilt(ILogger logger, string unit, string from, string until);

    [LoggerMessage(40, LogLevel.Warning,
        "A unit is sealed above {Epoch}, and nothing has followed: the same membership is proposed")]
    public static partial void Renewing(ILogger logger, string epoch);

    [LoggerMessage(41, LogLevel.Warning, "The certificate with the serial number {Serial} is denied from now on")]
    public static partial void Denied(ILogger logger, string serial);

    [LoggerMessage(42, LogLevel.Error,
        "Denied certificates are refused, and could not be written down: free the disk, and deny them again")]
    public static partial void DeniedNotKept(ILogger logger);

    [LoggerMessage(43, LogLevel.Warning,
        "The agent at {Peer} says that it is {Endpoint}, which its certificate does not name: issue one that does")]
    public static partial void ForeignAddress(ILogger logger, string peer, string endpoint);
}
