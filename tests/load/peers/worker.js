// The same echo tool: one word in upper case.
export default {
  async fetch(request) {
    const { text } = await request.json();
    return Response.json({ text: text.toUpperCase() });
  },
};
