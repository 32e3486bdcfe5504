namespace Corfu.Grpc;

/// <summary>A grant of the access file: <c>log</c>, <c>stream:NAME</c>, <c>objects:NAME</c> or
/// <c>objects:PREFIX*</c>.</summary>
/// <remarks>Names are compared as the directory compares them, code point by code point. Case, trailing slashes and the
/// normal forms of Unicode make different names, and different objects; so no second spelling reaches an object.
/// </remarks>
internal readonly record struct AccessScope
{
    private const string Objects = "objects:";
    private const string Stream = "stream:";

    private readonly string? _object;
    private readonly bool _isPrefix;
    private readonly StreamId? _stream;

    private AccessScope(string? name, bool isPrefix, StreamId? stream) =>
        (_object, _isPrefix, _stream) = (name, isPrefix, stream);

    /// <summary>Covers a stream by its name or by its id, some stream, or the whole log.</summary>
    public bool IsOfStreams => _object is null;

    public bool Covers(CorfuResource resource)
    {
        if (resource.ObjectName is { } name)
            return _object is { } own
                && (_isPrefix ? name.StartsWith(own, StringComparison.Ordinal) : name == own);
        if (_object is not null) return false;
        // The log holds every stream.
        return _stream is not { } granted || resource.StreamId == granted || resource == CorfuResource.AnyStream;
    }

    /// <returns>Null: it is none, and <paramref name="fault"/> says why.</returns>
    public static AccessScope? Parse(string text, out string fault)
    {
        fault = "";
        if (text == "log") return new AccessScope(null, false, null);
        if (text.StartsWith(Objects, StringComparison.Ordinal)) return ParseObjects(text[Objects.Length..], out fault);
        if (text.StartsWith(Stream, StringComparison.Ordinal)) return ParseStream(text[Stream.Length..], out fault);
        fault = "a scope is 'log', 'stream:NAME', 'objects:NAME' or 'objects:PREFIX*'";
        return null;
    }

    private static AccessScope? ParseObjects(string name, out string fault)
    {
        fault = FaultOf(name);
        if (fault.Length > 0) return null;
        var star = name.IndexOf('*');
        if (star >= 0 && star < name.Length - 1)
        {
            fault = "a '*' stands at the end alone; a name that has one is granted by a prefix that ends before it";
            return null;
        }

        return star < 0 ? new AccessScope(name, false, null) : new AccessScope(name[..star], true, null);
    }

    private static AccessScope? ParseStream(string name, out string fault)
    {
        fault = FaultOf(name);
        if (fault.Length == 0 && name.Contains('*'))
            fault = "streams have no prefixes, for their ids are hashes of their names: name each stream";
        return fault.Length > 0 ? null : new AccessScope(null, false, StreamId.FromName(name));
    }

    // A typing error grants nothing silently.
    private static string FaultOf(string name)
    {
        if (name.Length == 0) return "the name is missing";
        if (name.Length > OpenObjects.MaxNameLength)
            return $"the name has {name.Length} characters, where {OpenObjects.MaxNameLength} are possible";
        if (name.Any(char.IsControl)) return "the name has a control character";
        return name != name.Trim() ? "the name begins or ends with a space" : "";
    }
}
