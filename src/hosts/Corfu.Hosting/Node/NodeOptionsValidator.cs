using System.Net;
using Microsoft.Extensions.Options;

namespace Corfu.Hosting;

/// <summary>Every fault of a node's options, in one message.</summary>
public sealed class NodeOptionsValidator : IValidateOptions<NodeOptions>
{
    public ValidateOptionsResult Validate(string? name, NodeOptions options)
    {
        var faults = Faults(options).ToList();
        return faults.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(faults);
    }

    /// <summary>The address to bind, or null if it is none.</summary>
    internal static IPAddress? AddressOf(string host) =>
        host == "localhost" ? IPAddress.Loopback : IPAddress.TryParse(host, out var address) ? address : null;

    /// <summary>Good for listening, but projections name nodes by the address that clients connect to.</summary>
    internal static bool IsUnspecified(IPAddress address) =>
        address.Equals(IPAddress.Any) || address.Equals(IPAddress.IPv6Any);

    private static IEnumerable<string> Faults(NodeOptions options)
    {
        if (string.IsNullOrWhiteSpace(options.Name)) yield return "Name: a node needs a name.";
        if (options.Cluster == Guid.Empty) yield return "Cluster: the identity of the cluster is missing.";
        if (ListenFault(options.Listen, options) is { } fault) yield return $"Listen: {fault}";
        foreach (var tlsFault in TlsFaults(options)) yield return tlsFault;
        foreach (var frontEndFault in FrontEndFaults(options)) yield return frontEndFault;
        foreach (var operatorsFault in OperatorFaults(options)) yield return operatorsFault;

        foreach (var peer in options.Peers.Where(peer => !NodeEndpoint.TryParse(peer, out _)))
            yield return $"Peers: '{peer}' is no address:port with a port between 1 and 65535.";
        if (options.Roles.Count == 0) yield return "Roles: a node needs at least one role.";
        foreach (var roleFault in options.Roles.GroupBy(role => role.Role).SelectMany(
            same => RoleFaults(options.KnownRoles.Find(same.Key), [.. same]))) yield return roleFault;
        foreach (var limitFault in options.Limits.Faults()) yield return limitFault;
        var folders = options.Roles.Where(role => role.Folder is not null)
            .Select(role => Path.GetFullPath(role.Folder!));
        foreach (var twice in folders.GroupBy(folder => folder).Where(group => group.Count() > 1))
            yield return $"Roles: two roles share the folder {twice.Key}.";
    }

    private static IEnumerable<string> FrontEndFaults(NodeOptions options)
    {
        foreach (var own in options.FrontEnds)
        {
            if (string.IsNullOrWhiteSpace(own.Kind)) yield return "FrontEnds: a front end needs a kind.";
            else if (ListenFault(own.Listen, options) is { } fault)
                yield return $"FrontEnds: {own.Kind}: {fault}";
            else if (own.Listen == options.Listen)
                yield return $"FrontEnds: {own.Kind}: {own.Listen} is the node's own address.";
        }

        foreach (var twice in options.FrontEnds.GroupBy(own => own.Kind).Where(group => group.Count() > 1))
            yield return $"FrontEnds: more than one of the kind '{twice.Key}'.";
        foreach (var twice in options.FrontEnds.GroupBy(own => own.Listen).Where(group => group.Count() > 1))
            yield return $"FrontEnds: two share the address {twice.Key}.";
    }

    private static IEnumerable<string> OperatorFaults(NodeOptions options)
    {
        foreach (var fault in options.Log.Faults().Concat(options.Telemetry?.Faults() ?? [])) yield return fault;
        if (options.Http is not { } http) yield break;
        if (ListenFault(http.Listen, options) is { } listen) yield return $"Http: {listen}";
        else if (http.Listen == options.Listen) yield return $"Http: {http.Listen} is the node's own address.";
        else if (options.FrontEnds.Any(own => own.Listen == http.Listen))
            yield return $"Http: {http.Listen} is the address of a front end.";
        foreach (var fault in http.Faults()) yield return fault;
    }

    private static string? ListenFault(string listen, NodeOptions options)
    {
        if (!NodeEndpoint.TryParse(listen, out var endpoint))
            return $"'{listen}' is no address:port with a port between 1 and 65535.";
        if (AddressOf(endpoint.Host) is not { } address)
            return $"'{endpoint.Host}' is neither an IP address nor 'localhost'.";
        if (IsUnspecified(address)) return $"{endpoint.Host} is no address that clients could reach the node under.";
        return IPAddress.IsLoopback(address) || options.Insecure || options.Mode == TlsMode.Required
            ? null
            : $"{endpoint.Host} is not a loopback address, where TLS is required: give the node certificates "
                + "(tls.certs; 'corfu cert issue --role node' makes them) with tls.mode 'required', or set insecure to "
                + "accept connections that anyone on the network can read and make.";
    }

    private static IEnumerable<string> TlsFaults(NodeOptions options)
    {
        if (options.Mode != TlsMode.Off && !options.HasCertificate)
            yield return $"Tls: the mode is '{options.Mode.ToString().ToLowerInvariant()}', and there are no "
                + "certificates: name their folder (tls.certs).";
        foreach (var fault in options.Tls.Map.Select(mapping => mapping.Fault).OfType<string>())
            yield return $"Tls: {fault}.";
        if (options.Tls.ExpiredNodeGrace < TimeSpan.Zero)
            yield return "Tls: expiredNodeGrace must not be negative; it is '7.00:00:00' by default.";
    }

    // All roles are of one kind.
    private static IEnumerable<string> RoleFaults(INodeRole? kind, ImmutableArray<NodeRoleOptions> roles)
    {
        var name = kind?.Name.ToLowerInvariant();
        if (kind is null) yield return $"Roles: '{roles[0].Role}' is no role.";
        else if (!kind.HasFolder && roles.Length > 1) yield return $"Roles: more than one {name}.";
        foreach (var role in roles)
        {
            if (kind is { HasFolder: true } && string.IsNullOrWhiteSpace(role.Folder))
                yield return $"Roles: the {name} has no folder.";
            if (kind is { HasFolder: false } && role.Folder is not null)
                yield return $"Roles: a {name} stores nothing, so it has no folder.";
            if (kind?.FaultOf(role.Settings) is { } settingsFault) yield return $"Roles: {settingsFault}";
            if (kind is { HasFolder: false } && role.Id != Guid.Empty)
                yield return $"Roles: a {name}'s identity is new with every start and cannot be given.";
        }
    }
}
