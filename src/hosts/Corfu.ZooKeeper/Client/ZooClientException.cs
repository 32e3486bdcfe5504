namespace Corfu.ZooKeeper.Client;

/// <summary>The server refuses the client, or the connection has broken.</summary>
internal sealed class ZooClientException(string message, Exception? inner = null) : CorfuException(message, inner);
