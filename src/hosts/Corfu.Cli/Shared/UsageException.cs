namespace Corfu.Cli;

/// <summary>Options that are well-formed one by one but make no sense together, or here.</summary>
internal sealed class UsageException(string message) : Exception(message);
