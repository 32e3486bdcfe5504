namespace Tango;

/// <summary>
/// Part of the history that this runtime still had to play was trimmed (R22). Its views cannot go on: open a new
/// runtime, which starts from a checkpoint.
/// </summary>
public sealed class TangoTrimmedException(Exception innerException)
    : TangoException("History that was not yet played has been trimmed", innerException);
