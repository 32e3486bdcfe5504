namespace JobScheduler.Cli;

/// <summary>Exit codes for scripts.</summary>
public static class ExitCodes
{
    public const int Success = 0;

    /// <summary>The run ended, but its result is wrong, or it could not go on.</summary>
    public const int Failed = 1;

    /// <summary>Wrong arguments or a malformed trace; nothing was started.</summary>
    public const int Usage = 2;

    /// <summary>Stopped by Ctrl-C, as shells expect it (128 + SIGINT).</summary>
    public const int Interrupted = 130;
}
