namespace Corfu.Grpc.Protocol;

/// <summary>Names in the metadata of calls.</summary>
public static class FrontEndHeaders
{
    /// <summary>Among the response headers of an AppendMany call that the front end has accepted.</summary>
    public const string Accepted = "corfu-accepted";

    /// <summary>In a request: the id of the cluster that the call demands.</summary>
    public const string ClusterId = "corfu-cluster-id";
}
