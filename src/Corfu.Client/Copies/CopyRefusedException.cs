using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>The log takes no copies, or not from there: it is no mirror, one of another cluster, or was promoted.</summary>
public sealed class CopyRefusedException(string message) : CorfuException(message);
