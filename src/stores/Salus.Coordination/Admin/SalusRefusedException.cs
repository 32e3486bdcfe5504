namespace Salus.Coordination;

/// <summary>An operator's command was refused; nothing has changed. The message says what to do.</summary>
public sealed class SalusRefusedException(string message) : CorfuException(message);
