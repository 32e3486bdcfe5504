namespace NamenodeSample.Tree;

/// <summary>A client's newest operation that was done.</summary>
/// <param name="Id">The operation's edit.</param>
[MessagePackObject]
public sealed record Answered(
    [property: Key(0)] string Client, [property: Key(1)] long Number, [property: Key(2)] long Id,
    [property: Key(3)] string Text);

/// <summary>A path of an image; directories stand before what is in them.</summary>
[MessagePackObject]
public sealed record ImageEntry(
    [property: Key(0)] string Path, [property: Key(1)] long Id, [property: Key(2)] bool IsDirectory,
    [property: Key(3)] int Mode, [property: Key(4)] bool IsComplete, [property: Key(5)] Block[] Blocks,
    [property: Key(6)] Attributes? Attributes = null);

/// <summary>A whole tree: the edits up to one are not needed any more.</summary>
[MessagePackObject]
public sealed record Image(
    [property: Key(0)] long LastId, [property: Key(1)] long Nodes, [property: Key(2)] long Blocks,
    [property: Key(3)] Answered[] Answered, [property: Key(4)] ImageEntry[] Entries,
    [property: Key(5)] Attributes? Root = null)
{
    public byte[] Encode() => MessagePackSerializer.Serialize(this, MessagePackSerializerOptions.Standard);

    /// <exception cref="JournalException">The bytes are no image.</exception>
    public static Image Decode(ReadOnlyMemory<byte> bytes)
    {
        try
        {
            return MessagePackSerializer.Deserialize<Image>(bytes, MessagePackSerializerOptions.Standard)
                ?? throw new JournalException("An image is empty");
        }
        catch (MessagePackSerializationException e)
        {
            throw new JournalException($"A ledger is no image: {e.Message}");
        }
    }
}
